/* SPDX-License-Identifier: Apache-2.0
 *
 * A stream socket may take and give less than was asked for.
 */
#include "compiler_message.h"

#include <errno.h>
#include <sys/socket.h>

bool gsh_compiler_message_send(int socket, const void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t sent = send(socket, (const char *)bytes + done, size - done, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR)
            return false;
        done += (size_t)GSH_MAX(sent, 0);
    }
    return true;
}

bool gsh_compiler_message_receive(int socket, void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t received = recv(socket, (char *)bytes + done, size - done, 0);
        if (received == 0 || (received < 0 && errno != EINTR))
            return false;
        done += (size_t)GSH_MAX(received, 0);
    }
    return true;
}
