# SPDX-License-Identifier: Apache-2.0
"""Calls of libc through which the kernel reads or writes memory, each with that memory in arrays: the script of
test_io_matrix.py.

An operation gets a Memory, whose arrays are all in one state: shared (the host and the device have the bytes), device
(only the device has them), pending (computed when somebody looks), blank (from numpy.empty; with content: device). It
returns what a program would look at.
"""
import contextlib
import ctypes
import errno
import fcntl
import os
import resource
import select
import signal
import socket
import struct
import sys
import tempfile
import threading

import numpy as np

from shim_script import dump

LIBC = ctypes.CDLL(None, use_errno=True)
IS_SHIM = hasattr(LIBC, "gpushim_synchronize")
SIZE = 1 << 17
ZERO = np.uint8(0)
PATTERN = ((np.arange(SIZE, dtype=np.uint64) * 2654435761 >> 7) & 255).astype(np.uint8)
WORK = tempfile.TemporaryDirectory()
RESIDENT = 3  # gpushim_residency: only the device has the bytes
OPERATIONS = {}
kept = []  # sockets
size_t, long_t = ctypes.c_size_t, ctypes.c_long
count = 0


def operation(function):
    OPERATIONS[function.__name__] = function
    return function


def pattern(size, start=0):
    return PATTERN[start:start + size].tobytes()


def path(content=None):
    global count
    count += 1
    name = os.path.join(WORK.name, "f%d" % count)
    if content is not None:
        with open(name, "wb") as stream:
            stream.write(content)
    return name


def opened(content=b""):
    return os.open(path(content), os.O_RDWR)


def whole(descriptor):
    return os.pread(descriptor, 1 << 20, 0)


def text(string):
    return os.fsencode(string) + b"\0"


def vector(*pairs):
    return b"".join(struct.pack("QQ", address, size) for address, size in pairs)


def plain(content):
    """Memory that is no array's."""
    return ctypes.create_string_buffer(content, len(content))


def call(name, *arguments, result=ctypes.c_ssize_t):
    function = getattr(LIBC, name)
    function.restype = result
    ctypes.set_errno(0)
    value = function(*arguments)
    return errno.errorcode.get(ctypes.get_errno(), "no errno") if value in (-1, 0xffffffff) else value


class Memory:
    def __init__(self, state):
        self.state, self.arrays = state, []

    def put(self, content=None, size=SIZE):
        """The address of a new array that starts with this content."""
        if self.state == "blank" and content is None:
            array = np.empty(size, np.uint8)
        else:
            array = PATTERN[:size].copy()
            array[:len(content or b"")] = np.frombuffer(content or b"", np.uint8)
            array = array + ZERO
            if IS_SHIM and self.state != "pending":
                LIBC.gpushim_synchronize()
                residency = LIBC.gpushim_residency(ctypes.c_void_p(array.ctypes.data))
                assert residency == RESIDENT, "an array is not resident: %d" % residency
            if self.state == "shared":
                array.tobytes()
        self.arrays.append(array)
        return ctypes.c_void_p(array.ctypes.data)

    def get(self, begin, end, of=-1):
        """Bytes of the last array, or of another one; the device must have them too."""
        array = self.arrays[of]
        found = array[begin:end].tobytes()
        return found, (array[begin:end] + np.uint8(1)).tobytes()


def at(pointer, offset):
    return ctypes.c_void_p(pointer.value + offset)


def exited(code=7):
    return os.posix_spawn("/bin/sh", ["sh", "-c", "exit %d" % code], os.environ)


def ready_pipe():
    reader, writer = os.pipe()
    os.write(writer, b"x")
    return reader, writer


def new_socket(kind=socket.SOCK_STREAM):
    """A socket that stays open when nobody uses it any longer."""
    kept.append(socket.socket(type=kind))
    return kept[-1]


def datagrams():
    one, two = (new_socket(socket.SOCK_DGRAM) for _ in range(2))
    for end in (one, two):
        end.bind(("127.0.0.1", 0))
        end.settimeout(5)
    one.connect(two.getsockname())
    two.connect(one.getsockname())
    return one, two


def listener():
    server = new_socket()
    server.bind(("127.0.0.1", 0))
    server.listen(1)
    return server


def address_of(sock):
    """Its address as the kernel has it."""
    return struct.pack("<H", socket.AF_INET) + struct.pack(">H", sock.getsockname()[1]) + bytes([127, 0, 0, 1]) + bytes(8)


# ---- files
@operation
def read(m): return call("read", opened(pattern(SIZE)), at(m.put(), 3), size_t(5000)), m.get(3, 5003)
@operation
def write(m):
    file = opened()
    return call("write", file, at(m.put(b"w" * 6000), 5), size_t(5000)), whole(file)
@operation
def pread(m): return call("pread", opened(pattern(SIZE)), m.put(), size_t(5000), long_t(9)), m.get(0, 5000)
@operation
def readv_vector_in_array(m):
    memory = m.put()
    return call("readv", opened(pattern(SIZE)), m.put(vector((memory.value, 4000), (memory.value + 5000, 7))), 2), m.get(0, 5, of=0)
@operation
def readv_over_its_vector(m):
    memory = m.put(bytes(64))
    ctypes.memmove(memory, vector((memory.value, 4000), (memory.value + 5000, 7)), 32)
    m.arrays[0] += ZERO
    return call("readv", opened(pattern(SIZE)), memory, 2), m.get(0, 4000)
@operation
def sendfile_offset(m):
    out = opened()
    return call("sendfile", out, opened(pattern(5000)), m.put(struct.pack("q", 11)), size_t(500)), whole(out), m.get(0, 8)
@operation
def splice_offset(m):
    reader, writer = os.pipe()
    sent = call("splice", opened(pattern(5000)), m.put(struct.pack("q", 11)), writer, None, size_t(500), 0)
    return sent, os.read(reader, 9999), m.get(0, 8)
@operation
def copy_file_range_offsets(m):
    out, offsets = opened(), m.put(struct.pack("qq", 11, 3))
    return call("copy_file_range", opened(pattern(5000)), offsets, out, at(offsets, 8), size_t(500), 0), whole(out), m.get(0, 16)
@operation
def process_vm_readv_self(m):
    source, into = m.put(b"source"), plain(bytes(5000))
    near, far = vector((ctypes.addressof(into), 5000)), vector((source.value, 5000))
    return call("process_vm_readv", os.getpid(), near, long_t(1), far, long_t(1), long_t(0)), into.raw
@operation
def pipe(m): return call("pipe", m.put()), all(2 < end < 4000 for end in struct.unpack("ii", m.get(0, 8)[0]))
@operation
def eventfd_read(m): return call("eventfd_read", LIBC.eventfd(9, 0), m.put()), m.get(0, 8)
@operation
def getdents64(m):
    folder = path()
    os.mkdir(folder)
    open(os.path.join(folder, "hello"), "w").close()
    return call("getdents64", os.open(folder, 0), m.put(), size_t(4096)), b"hello" in m.get(0, 4096)[0]
@operation
def handle_read(m): return ctypes.CDLL("libc.so.6").read(opened(pattern(SIZE)), m.put(), size_t(5000)), m.get(0, 5000)
@operation
def handle_own_functions(m):
    library = ctypes.CDLL("libc.so.6")
    return library.strnlen(m.put(b"four\0"), size_t(9)), library.toupper(97), hasattr(library, "no_such_function"), library.labs(-7)
@operation
def ioctl_fionread(m):
    reader, writer = ready_pipe()
    return call("ioctl", reader, 0x541B, m.put()), m.get(0, 4)
@operation
def ioctl_siocgifconf(m):
    request = ctypes.create_string_buffer(struct.pack("i4xQ", 4096, m.put().value))
    with socket.socket() as end:
        return call("ioctl", end.fileno(), 0x8912, request), m.get(0, 2)
@operation
def fcntl_getlk(m): return call("fcntl", opened(b"abc"), fcntl.F_GETLK, m.put(struct.pack("hhqqi", 1, 0, 0, 0, 0))), m.get(0, 2)


# ---- stdio
def stream(content=b"", mode=b"rb", name=None):
    return ctypes.c_void_p(call("fopen", os.fsencode(name or path(content)), mode, result=size_t))
@operation
def fread(m): return call("fread", m.put(), size_t(3), size_t(30000), stream(pattern(SIZE))), m.get(0, 90000)
@operation
def fwrite(m):
    name = path()
    file = stream(mode=b"wb", name=name)
    result = call("fwrite", m.put(b"w"), size_t(3), size_t(2000), file)
    LIBC.fclose(file)
    return result, os.path.getsize(name)
@operation
def fputs_unbuffered(m):
    name = path()
    file = stream(mode=b"wb", name=name)
    LIBC.setvbuf(file, None, 2, size_t(0))
    result = call("fputs", m.put(b"hello" * 5000 + b"\0"), file)
    LIBC.fclose(file)
    return result > 0, os.path.getsize(name)
@operation
def fgets(m): return call("fgets", m.put(), 2000, stream(b"hello world\nsecond\n"), result=size_t) != 0, m.get(0, 13)
@operation
def getline(m): return call("getline", m.put(bytes(16)), at(ctypes.c_void_p(m.arrays[0].ctypes.data), 8), stream(b"hello\nsecond\n"))
@operation
def setvbuf_reads(m):
    file, into = stream(pattern(SIZE)), plain(bytes(5000))
    LIBC.setvbuf(file, m.put(), 0, size_t(65536))
    return call("fread", into, size_t(1), size_t(5000), file), into.raw
@operation
def setbuffer_writes(m):
    name = path()
    file = stream(mode=b"wb", name=name)
    LIBC.setbuffer(file, m.put(b"buffer"), size_t(65536))
    result = call("fwrite", plain(pattern(5000)), size_t(1), size_t(5000), file)
    m.get(0, 6)
    np.add(m.arrays[0], 0, out=m.arrays[0])
    if IS_SHIM:
        LIBC.gpushim_synchronize()
    LIBC.fclose(file)
    with open(name, "rb") as written:
        return result, written.read()
@operation
def setbuf_reads(m):
    file, into = stream(pattern(SIZE)), plain(bytes(50))
    LIBC.setbuf(file, m.put())
    return call("fread", into, size_t(1), size_t(50), file), into.raw
@operation
def dprintf_text(m):
    file = opened()
    return call("dprintf", file, b"<%s>", m.put(b"hello" * 5000 + b"\0")), len(whole(file))
@operation
def fscanf_into(m): return call("fscanf", stream(b"12 34\n"), b"%d %d", m.put(), m.put()), m.get(0, 4)


# ---- paths
def path_operation(name, function):
    function.__name__ = name
    operation(function)
for called, before, after in (("open", (), (0,)), ("openat", (-100,), (0,)), ("access", (), (0,)), ("unlink", (), ()), ("remove", (), ()),
                              ("truncate", (), (long_t(1),)), ("chmod", (), (0o600,)), ("chown", (), (-1, -1)), ("chdir", (), ()),
                              ("rmdir", (), ()), ("utime", (), (None,)), ("statvfs", (), (plain(bytes(200)),)), ("pathconf", (), (3,)),
                              ("faccessat", (-100,), (4, 0)), ("unlinkat", (-100,), (0,)), ("inotify_add_watch", (LIBC.inotify_init(),), (2,)),
                              ("memfd_create", (), (0,)), ("removexattr", (), (b"user.none",)), ("lchown", (), (-1, -1)),
                              ("lutimes", (), (None,)), ("utimes", (), (None,)), ("futimesat", (-100,), (None,)), ("eaccess", (), (4,)), ("shm_unlink", (), ()), ("mq_unlink", (), ())):
    def run(m, called=called, before=before, after=after):
        name = path(b"xyz")
        result = call(called, *before, m.put(text(name)), *after)
        return result if isinstance(result, str) or result == 0 else "positive", os.path.exists(name), os.access(name, os.W_OK)
    path_operation(called + "_path", run)
for called, before, after in (("mkdir", (), (0o700,)), ("mkdirat", (-100,), (0o700,)), ("mkfifo", (), (0o600,)), ("creat", (), (0o600,)),
                              ("symlink", (b"target",), ()), ("symlinkat", (b"target", -100), ()), ("mknod", (), (0o100600, long_t(0)))):
    def run(m, called=called, before=before, after=after):
        name = path()
        result = call(called, *before, m.put(text(name)), *after)
        return result if isinstance(result, str) or result == 0 else "positive", os.path.lexists(name)
    path_operation(called + "_path", run)
for called in ("rename", "link"):
    def run(m, called=called):
        old, new = path(b"x"), path()
        return call(called, m.put(text(old)), m.put(text(new))), os.path.exists(old), os.path.exists(new)
    path_operation(called + "_paths", run)
@operation
def fopen_path(m): return call("fopen", m.put(text(path(b"x"))), b"r", result=size_t) != 0
@operation
def opendir_path(m): return call("opendir", m.put(text(WORK.name)), result=size_t) != 0
@operation
def realpath_path(m): return call("realpath", m.put(text("/usr/../tmp")), m.put(), result=size_t) != 0, m.get(0, 5)
@operation
def glob_pattern(m): return call("glob", m.put(text("/usr")), 0, None, plain(bytes(100))), call("glob", m.put(text("/us*")), 0, None, plain(bytes(100)))
@operation
def catopen_path(m): return call("catopen", m.put(text(path(b"x"))), 0)
@operation
def mkstemp_template(m):
    template = text(os.path.join(WORK.name, "tXXXXXX"))
    return call("mkstemp", m.put(template)) > 2, os.path.exists(m.get(0, len(template) - 1)[0])
@operation
def tempnam_folder(m):
    os.environ.pop("TMPDIR", None)
    name = ctypes.string_at(ctypes.c_void_p(call("tempnam", m.put(text(WORK.name)), b"gs", result=size_t)))
    return os.path.dirname(name) == os.fsencode(WORK.name), os.path.basename(name)[:2]
@operation
def stat(m): return call("stat", m.put(text(path(pattern(123)))), m.put()), m.get(48, 56)
@operation
def fstat(m): return call("fstat", opened(pattern(123)), m.put()), m.get(48, 56)
@operation
def lstat(m): return call("lstat", os.fsencode(path(pattern(123))), m.put()), m.get(48, 56)
@operation
def fstatat(m): return call("fstatat", -100, m.put(text(path(pattern(123)))), m.put(), 0), m.get(48, 56)
@operation
def xstat(m): return call("__xstat", 1, m.put(text(path(pattern(123)))), m.put()), m.get(48, 56)
@operation
def statx(m): return call("statx", -100, m.put(text(path(pattern(123)))), 0, 0x7ff, m.put()), m.get(40, 48)
@operation
def statfs(m): return call("statfs", m.put(text("/")), m.put()), m.get(0, 8)
@operation
def fstatvfs(m): return call("fstatvfs", opened(), m.put()), m.get(0, 8)
@operation
def readlink(m):
    name = path()
    os.symlink("target", name)
    return call("readlink", m.put(text(name)), m.put(), size_t(100)), m.get(0, 6)
@operation
def getcwd(m):
    os.chdir("/usr")
    return call("getcwd", m.put(), size_t(4096), result=size_t) != 0, m.get(0, 5)
@operation
def ttyname_r(m): return call("ttyname_r", os.openpty()[1], m.put(), size_t(100)), m.get(0, 9)
@operation
def utimensat(m):
    name = path(b"x")
    return call("utimensat", -100, m.put(text(name)), m.put(struct.pack("qqqq", 1, 0, 2, 0)), 0), os.stat(name).st_mtime
@operation
def futimens(m):
    name = path(b"x")
    return call("futimens", os.open(name, os.O_RDWR), m.put(struct.pack("qqqq", 1, 0, 2, 0))), os.stat(name).st_mtime
@operation
def setxattr_all(m): return call("setxattr", m.put(text(path(b"x"))), m.put(text("user.a")), m.put(b"value"), size_t(5), 0)
@operation
def name_to_handle_at(m):
    result = call("name_to_handle_at", -100, m.put(text("/tmp")), m.put(struct.pack("Ii", 128, 0)), m.put(), 0)
    return result if isinstance(result, str) else result, m.get(0, 4, of=1)[0] != struct.pack("I", 128)


# ---- sockets
@operation
def recvfrom_all(m):
    one, two = datagrams()
    one.send(pattern(900))
    data, address, length = m.put(), m.put(), m.put(struct.pack("I", 100))
    result = call("recvfrom", two.fileno(), data, size_t(5000), 0, address, length)
    return result, m.get(0, 900, of=0), m.get(0, 2, of=1), m.get(0, 4)
@operation
def sendto_all(m):
    sender, receiver = (new_socket(socket.SOCK_DGRAM) for _ in range(2))
    receiver.settimeout(5)
    receiver.bind(("127.0.0.1", 0))
    return call("sendto", sender.fileno(), m.put(b"abc"), size_t(3), 0, m.put(address_of(receiver)), 16), receiver.recv(9)
@operation
def accept_address(m):
    server = listener()
    client = socket.create_connection(server.getsockname())
    length = m.put(struct.pack("I", 16))
    result = call("accept", server.fileno(), m.put(), length)
    client.close()
    return isinstance(result, int), m.get(0, 4, of=0), m.get(0, 2), m.get(4, 8)
@operation
def getsockname(m): return call("getsockname", listener().fileno(), m.put(), m.put(struct.pack("I", 16))), m.get(0, 4), m.get(0, 2, of=0)
@operation
def getpeername(m):
    one, _ = datagrams()
    return call("getpeername", one.fileno(), m.put(), m.put(struct.pack("I", 16))), m.get(0, 4), m.get(0, 2, of=0)
@operation
def bind_address(m):
    sock = new_socket()
    return call("bind", sock.fileno(), m.put(struct.pack("HH", 2, 0) + bytes([127, 0, 0, 1]) + bytes(8)), 16), sock.getsockname()[0]
@operation
def connect_address(m): return call("connect", new_socket().fileno(), m.put(address_of(listener())), 16)
@operation
def getsockopt_both(m):
    length = m.put(struct.pack("I", 4))
    return call("getsockopt", new_socket().fileno(), socket.SOL_SOCKET, socket.SO_TYPE, m.put(), length), m.get(0, 4), m.get(0, 4, of=0)
@operation
def getsockopt_length(m):
    value = plain(bytes(8))
    return call("getsockopt", new_socket().fileno(), socket.SOL_SOCKET, socket.SO_TYPE, value, m.put(struct.pack("I", 4))), value.raw
@operation
def socketpair(m): return call("socketpair", 1, 1, 0, m.put()), all(2 < end < 4000 for end in struct.unpack("ii", m.get(0, 8)[0]))
@operation
def recvmmsg_timeout(m):
    one, two = datagrams()
    one.send(pattern(900))
    into = plain(bytes(1000))
    one_vector = plain(vector((ctypes.addressof(into), 1000)))
    messages = plain(struct.pack("QIIQQQQi4xI4x", 0, 0, 0, ctypes.addressof(one_vector), 1, 0, 0, 0, 0))
    return call("recvmmsg", two.fileno(), messages, 1, 0, m.put(struct.pack("qq", 1, 0))), into.raw


# ---- waiting
@operation
def poll(m): return call("poll", m.put(struct.pack("ihh", ready_pipe()[0], 1, 0)), long_t(1), 0), m.get(4, 8)
@operation
def ppoll_all(m):
    return call("ppoll", m.put(struct.pack("ihh", ready_pipe()[0], 1, 0)), long_t(1), m.put(struct.pack("qq", 1, 0)), m.put(bytes(128))), m.get(4, 8, of=0)
def descriptors(file):
    bits = bytearray(128)
    bits[file // 8] |= 1 << file % 8
    return bytes(bits)
@operation
def select_all(m):
    reader = ready_pipe()[0]
    return call("select", reader + 1, m.put(descriptors(reader)), m.put(bytes(128)), None, m.put(struct.pack("qq", 1, 0))), any(m.get(0, 16, of=0)[0])
@operation
def pselect_all(m):
    reader = ready_pipe()[0]
    return call("pselect", reader + 1, m.put(descriptors(reader)), None, None, m.put(struct.pack("qq", 1, 0)), m.put(bytes(128))), any(m.get(0, 16, of=0)[0])
@operation
def epoll_all(m):
    watcher, reader = select.epoll(), ready_pipe()[0]
    added = call("epoll_ctl", watcher.fileno(), 1, reader, m.put(struct.pack("=IQ", 1, 5)))
    return added, call("epoll_wait", watcher.fileno(), m.put(), 5, 100), m.get(0, 12)
@operation
def epoll_pwait_mask(m):
    watcher, reader = select.epoll(), ready_pipe()[0]
    watcher.register(reader, 1)
    return call("epoll_pwait", watcher.fileno(), m.put(), 5, 100, m.put(bytes(128))), m.get(0, 4, of=0)
@operation
def waitpid_status(m): return call("waitpid", exited(), m.put(bytes(4)), 0) > 0, m.get(0, 4)
@operation
def wait4_usage(m): return call("wait4", exited(), m.put(), 0, m.put()) > 0, m.get(0, 4, of=0)
@operation
def waitid_information(m): return call("waitid", 1, exited(), m.put(), 4), m.get(24, 28)
@operation
def signalfd_mask(m): return call("signalfd", -1, m.put(struct.pack("Q", 1 << 11) + bytes(120)), 0) > 2
@operation
def sigprocmask_both(m):
    result = call("sigprocmask", 0, m.put(struct.pack("Q", 1 << 11) + bytes(120)), m.put())
    return result, sorted(int(number) for number in signal.pthread_sigmask(0, []))
@operation
def sigpending(m): return call("sigpending", m.put()), m.get(0, 8)
@operation
def sigtimedwait_all(m):
    signal.pthread_sigmask(signal.SIG_BLOCK, [12])
    signal.pthread_kill(threading.get_ident(), 12)
    return call("sigtimedwait", m.put(struct.pack("Q", 1 << 11) + bytes(120)), m.put(), m.put(struct.pack("qq", 1, 0))), m.get(0, 4, of=1)
@operation
def sigaction_both(m): return call("sigaction", 12, m.put(bytes(160)), None), call("sigaction", 12, None, m.put()), m.get(0, 8)
@operation
def sigaltstack_memory(m):
    """A handler that runs on a stack in an array."""
    seen = []
    handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(seen.append)
    result = call("sigaltstack", m.put(struct.pack("Qi4xQ", m.put(b"stack").value, 0, SIZE)), None)
    SA_ONSTACK = 0x08000000
    action = plain(struct.pack("Q", ctypes.cast(handler, ctypes.c_void_p).value) + bytes(128) + struct.pack("i4xQ", SA_ONSTACK, 0))
    call("sigaction", 10, action, None)
    if IS_SHIM:
        _ = m.arrays[0] + ZERO
        LIBC.gpushim_synchronize()
    signal.pthread_kill(threading.get_ident(), 10)
    SS_DISABLE = 2
    LIBC.sigaltstack(plain(struct.pack("Qi4xQ", 0, SS_DISABLE, 0)), None)
    return result, seen
@operation
def semaphore_in_array(m):
    semaphore = m.put(bytes(32))
    LIBC.sem_init(semaphore, 0, 0)
    timer = threading.Timer(.02, lambda: LIBC.sem_post(semaphore))
    timer.start()
    result = call("sem_wait", semaphore)
    timer.join()
    return result
@operation
def mutex_in_array(m):
    mutex = m.put(bytes(64))
    LIBC.pthread_mutex_init(mutex, None)
    LIBC.pthread_mutex_lock(mutex)
    timer = threading.Timer(.02, lambda: LIBC.pthread_mutex_unlock(mutex))
    timer.start()
    result = call("pthread_mutex_lock", mutex)
    timer.join()
    return result


# ---- time
@operation
def clock_gettime_realtime(m): return call("clock_gettime", 0, m.put()), struct.unpack("q", m.get(0, 8)[0])[0] > 1e9
@operation
def clock_getres_process(m): return call("clock_getres", 2, m.put()), m.get(0, 16)
@operation
def nanosleep_both(m): return call("nanosleep", m.put(struct.pack("qq", 0, 1000)), m.put())
@operation
def clock_nanosleep_both(m): return call("clock_nanosleep", 0, 0, m.put(struct.pack("qq", 0, 1000)), m.put())
@operation
def setitimer_both(m):
    result = call("setitimer", 0, m.put(struct.pack("qqqq", 0, 0, 1000, 0)), m.put()), call("getitimer", 0, m.put())
    signal.setitimer(signal.ITIMER_REAL, 0)
    return result, struct.unpack("q", m.get(16, 24)[0])[0] >= 999
@operation
def timer_all(m):
    create = call("timer_create", 1, m.put(struct.pack("Qii", 0, 0, 1) + bytes(48)), m.put(bytes(8)))
    timer = ctypes.c_void_p(struct.unpack("Q", m.get(0, 8)[0])[0])
    result = create, call("timer_settime", timer, 0, m.put(struct.pack("qqqq", 0, 0, 100, 0)), m.put()), call("timer_gettime", timer, m.put())
    LIBC.timer_delete(timer)
    return result
@operation
def timerfd_all(m):
    timer = LIBC.timerfd_create(1, 0)
    result = call("timerfd_settime", timer, 0, m.put(struct.pack("qqqq", 0, 0, 100, 0)), m.put()), call("timerfd_gettime", timer, m.put())
    return result, struct.unpack("q", m.get(16, 24)[0])[0] >= 99
@operation
def times(m): return isinstance(call("times", m.put()), int)
@operation
def adjtimex(m): return isinstance(call("adjtimex", m.put(bytes(208))), int)


# ---- queues and semaphores
@operation
def semop_and_semctl(m):
    semaphores = LIBC.semget(0, 3, 0o1600)
    result = (call("semctl", semaphores, 0, 17, m.put(struct.pack("HHH", 4, 5, 6))), call("semop", semaphores, m.put(struct.pack("Hhh", 0, 1, 0)), size_t(1)),
              call("semctl", semaphores, 0, 13, m.put()), m.get(0, 6))
    LIBC.semctl(semaphores, 0, 0)
    return result
@operation
def shmctl_stat(m):
    segment = LIBC.shmget(0, 8192, 0o1600)
    result = call("shmctl", segment, 2, m.put()), m.get(48, 56)
    LIBC.shmctl(segment, 0, None)
    return result
@operation
def msgsnd_msgrcv(m):
    queue = LIBC.msgget(0, 0o1600)
    result = call("msgsnd", queue, m.put(struct.pack("q", 1)), size_t(1000), 0), call("msgrcv", queue, m.put(), size_t(1000), long_t(0), 0)
    result += m.get(0, 1008), call("msgctl", queue, 2, m.put())
    LIBC.msgctl(queue, 0, None)
    return result
@operation
def message_queue(m):
    name = b"/gpushim-test-%d" % os.getpid()
    queue = call("mq_open", m.put(text(name.decode())), os.O_RDWR | os.O_CREAT, 0o600, m.put(struct.pack("qqqq", 0, 2, 100, 0) + bytes(32)))
    if isinstance(queue, str):
        return queue
    result = (call("mq_send", queue, m.put(b"m"), size_t(50), 3), call("mq_getattr", queue, m.put()), m.get(0, 32),
              call("mq_receive", queue, m.put(), size_t(100), m.put()), m.get(0, 4), m.get(0, 50, of=-2))
    return result, call("mq_unlink", m.put(text(name.decode())))
def control_block(file, address, size, offset, opcode=0):
    """glibc's struct aiocb, without notification."""
    block = bytearray(168)
    struct.pack_into("iii4xQQ", block, 0, file, opcode, 0, address, size)
    struct.pack_into("i", block, 44, 1)
    struct.pack_into("q", block, 128, offset)
    return plain(bytes(block))
def finish(block):
    pointer = ctypes.c_void_p(ctypes.addressof(block))
    while call("aio_suspend", plain(struct.pack("Q", pointer.value)), 1, plain(struct.pack("qq", 5, 0))) == "EINTR":
        pass
    return call("aio_error", pointer), call("aio_return", pointer)
@operation
def aio_read(m):
    block = control_block(opened(pattern(SIZE)), m.put().value, 5000, 5)
    return call("aio_read", block), finish(block), m.get(0, 5000)
@operation
def aio_write(m):
    file = opened()
    block = control_block(file, m.put(b"w" * 5000).value, 5000, 0)
    return call("aio_write", block), finish(block), whole(file)
@operation
def lio_listio(m):
    file = opened()
    block = control_block(file, m.put(b"w" * 5000).value, 5000, 0, opcode=1)
    return call("lio_listio", 0, plain(struct.pack("Q", ctypes.addressof(block))), 1, None), finish(block), whole(file)


# ---- processes and the system
def echo_argument(m):
    argument = ctypes.create_string_buffer(b"echo")
    return argument, struct.pack("QQQ", ctypes.addressof(argument), m.put(b"hello\0").value, 0)
@operation
def execv_arguments(m):
    reader, writer = os.pipe()
    argument, strings = echo_argument(m)
    program, strings = m.put(text("/bin/echo")), m.put(strings)
    child = os.fork()
    if child == 0:
        os.dup2(writer, 1)
        LIBC.execv(program, strings)
        os._exit(ctypes.get_errno())
    os.close(writer)
    return os.waitpid(child, 0)[1], os.read(reader, 100)
for called, file in (("posix_spawn", "/bin/echo"), ("posix_spawnp", "echo")):
    def run(m, called=called, file=file):
        actions, child, (reader, writer) = plain(bytes(80)), ctypes.c_int(), os.pipe()
        LIBC.posix_spawn_file_actions_init(actions)
        LIBC.posix_spawn_file_actions_adddup2(actions, writer, 1)
        argument, strings = echo_argument(m)
        result = call(called, ctypes.byref(child), m.put(text(file)), actions, None, m.put(strings), m.put(bytes(8)))
        os.close(writer)
        return result, os.waitpid(child.value, 0)[1], os.read(reader, 100)
    path_operation(called + "_arguments", run)
@operation
def system_command(m): return call("system", m.put(b"exit 3\0"))
@operation
def popen_command(m):
    into, file = plain(bytes(20)), ctypes.c_void_p(call("popen", m.put(b"echo hello\0"), b"r", result=size_t))
    return call("fgets", into, 20, file, result=size_t) != 0, into.raw, LIBC.pclose(file)
@operation
def getrusage(m): return call("getrusage", 0, m.put()), struct.unpack("q", m.get(32, 40)[0])[0] > 1000
@operation
def getrlimit(m): return call("getrlimit", 7, m.put()), m.get(0, 16)
@operation
def setrlimit(m): return call("setrlimit", resource.RLIMIT_CORE, m.put(struct.pack("QQ", 0, 0)))
@operation
def prlimit_both(m): return call("prlimit", 0, resource.RLIMIT_CORE, m.put(struct.pack("QQ", 0, 0)), m.put()), m.get(0, 8)
@operation
def affinity(m):
    result = call("sched_getaffinity", 0, size_t(128), m.put())
    return result, call("sched_setaffinity", 0, size_t(128), m.put(m.get(0, 128)[0]))
@operation
def thread_affinity(m):
    LIBC.pthread_self.restype = ctypes.c_ulong
    return call("pthread_getaffinity_np", ctypes.c_ulong(LIBC.pthread_self()), size_t(128), m.put()), any(m.get(0, 128)[0])
@operation
def sched_getparam(m): return call("sched_getparam", 0, m.put()), m.get(0, 4)
@operation
def prctl_name(m): return call("prctl", 15, m.put(b"myname\0"), 0, 0, 0), call("prctl", 16, m.put(), 0, 0, 0), m.get(0, 7)
@operation
def thread_name(m):
    LIBC.pthread_self.restype = ctypes.c_ulong
    me = ctypes.c_ulong(LIBC.pthread_self())
    return call("pthread_setname_np", me, m.put(b"other\0")), call("pthread_getname_np", me, m.put(), size_t(16)), m.get(0, 6)
@operation
def getgroups(m): return call("getgroups", 64, m.put())
@operation
def getresuid(m): return call("getresuid", m.put(), m.put(), m.put()), m.get(0, 4)
@operation
def getrandom(m): return call("getrandom", m.put(), size_t(5000), 0), m.get(0, 5000)[0] != pattern(5000)
@operation
def uname(m): return call("uname", m.put()), m.get(0, 5)
@operation
def gethostname(m): return call("gethostname", m.put(), size_t(64)), m.get(0, 2)
@operation
def sysinfo(m): return call("sysinfo", m.put()), struct.unpack("Q", m.get(32, 40)[0])[0] > 1 << 20
@operation
def mincore(m):
    area = ctypes.create_string_buffer(1 << 16)
    start = ctypes.addressof(area) + -ctypes.addressof(area) % 4096
    return call("mincore", ctypes.c_void_p(start), size_t(32768), m.put()), m.get(0, 1)[0][0] & 1
@operation
def capget(m): return call("capget", m.put(struct.pack("Ii", 0x20080522, 0)), m.put()), m.get(0, 8)


# ---- system calls by number
@operation
def number_read(m): return call("syscall", long_t(0), opened(pattern(SIZE)), m.put(), size_t(5000)), m.get(0, 5000)
@operation
def number_write(m):
    file = opened()
    return call("syscall", long_t(1), file, m.put(b"w" * 5000), size_t(5000)), whole(file)
@operation
def number_openat(m): return call("syscall", long_t(257), -100, m.put(text(path(b"x"))), 0) > 2
@operation
def number_clock_gettime_process(m): return call("syscall", long_t(228), 2, m.put()), struct.unpack("q", m.get(0, 8)[0])[0] < 1e6
@operation
def number_futex(m):
    word = m.put(struct.pack("i", 5))
    return call("syscall", long_t(202), word, 128, 4, None, None, 0), call("syscall", long_t(202), word, 129, 1, None, None, 0)
@operation
def number_futex_wake_op(m):
    words = m.put(struct.pack("ii", 5, 6))
    return call("syscall", long_t(202), words, 133, 1, ctypes.c_void_p(1), at(words, 4), (9 << 12) | 6), m.get(4, 8)
@operation
def number_pselect6(m):
    reader = ready_pipe()[0]
    return call("syscall", long_t(270), reader + 1, m.put(descriptors(reader)), None, None, m.put(struct.pack("qq", 1, 0)), m.put(bytes(16))), any(m.get(0, 16, of=0)[0])
@operation
def number_sigprocmask(m): return call("syscall", long_t(14), 0, None, m.put(), size_t(8)), m.get(0, 8)
@operation
def number_invalid(m): return call("syscall", long_t(99999), m.put()), call("syscall", long_t(-5), m.put())


# ---- errors are the kernel's own
@operation
def errors(m):
    return (call("read", 9999, m.put(), size_t(50)), call("stat", m.put(text("/none/such")), m.put()), call("open", m.put(b"x" * 5000), 0),
            call("getsockname", 9999, m.put(), m.put()), call("poll", m.put(), long_t(1 << 40), 0), call("readlink", None, m.put(), size_t(9)),
            call("execv", m.put(text("/none/such")), None))


def main():
    for name, function in OPERATIONS.items():
        for state in ("shared", "device", "pending", "blank"):
            print(name, state, flush=True)
            with contextlib.ExitStack() as stack:
                stack.callback(signal.pthread_sigmask, signal.SIG_SETMASK, signal.pthread_sigmask(signal.SIG_BLOCK, []))
                try:
                    result = function(Memory(state))
                except Exception as error:  # pylint: disable=broad-except
                    result = error
            dump("%s, %s" % (name, state), result)


if __name__ == "__main__":
    sys.exit(main())
