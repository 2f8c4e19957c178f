# SPDX-License-Identifier: Apache-2.0
"""Is each function of the C library that hands a caller's memory to the kernel covered, or named in docs/user/api.md?

Which ones those are is read from the C library at hand: the exported functions whose code makes a system call, or is short and
calls such a function; and other spellings of what is covered, longer and shorter ones. What of
these hands no memory over is named here.
"""
import os
import re
import struct
import unittest

from source_tree import BUILD, ROOT, read

SYSTEM_CALL = b"\x0f\x05"
SHORT = 700  # bytes of code: longer functions do more than pass on what they are given

# Takes no memory of the caller's.
NOTHING = """
_Exit _Fork _IO_file_doallocate _IO_file_seek __bsd_getpgrp __close __default_morecore __dup2 __getpgid __getpid __lseek __res_init __res_randomid __sbrk
__sched_get_priority_max __sched_get_priority_min __sched_getscheduler __sched_yield __setpgid __sigpause __vfork __xpg_sigpause _exit
_mcleanup _rpc_dtablesize abort alarm brk clock clock_getcpuclockid close close_range closefrom daemon dup dup2 dup3 epoll_create epoll_create1
eventfd eventfd_write fallocate fallocate64 fanotify_init fchdir fchmod fchown fdatasync flock fork fpathconf fsmount fsync ftruncate
ftruncate64 get_avphys_pages get_current_dir_name get_phys_pages getdtablesize getegid geteuid getgid gethostid getpgid getpgrp getpid getppid
getpriority getpt getsid gettid getuid grantpt herror inotify_init inotify_init1 inotify_rm_watch ioperm iopl isastream isatty isfdtype kill killpg
lckpwdf listen llseek lockf lockf64 login_tty lseek lseek64 malloc_trim moncontrol monstartup __monstartup mq_close msgget munlockall nice pause
personality pidfd_getfd pidfd_open pkey_alloc pkey_free posix_fadvise posix_fadvise64 posix_fallocate posix_fallocate64 posix_openpt
process_mrelease pthread_yield rresvport setpgrp tcflow tcflush pthread_cancel pthread_kill pthread_mutex_setprioceiling pthread_setschedprio ptsname raise readahead reboot rresvport_af sbrk
sched_get_priority_max sched_get_priority_min sched_getcpu sched_getscheduler sched_yield semget setegid seteuid setfsgid setfsuid setgid
sethostid setns setpgid setpriority setregid setresgid setresuid setreuid setsid setuid shmdt shmget shutdown sigpause sigrelse sleep sockatmark
socket strfry svc_run sync sync_file_range syncfs tcdrain tcgetpgrp tcgetsid tcsendbreak tcsetpgrp tee tgkill thrd_yield
timer_delete timer_getoverrun timerfd_create tmpfile tmpfile64 ttyname ualarm ulimit umask unlockpt unshare uselib usleep vfork
vhangup vlimit
""".split()

# The C library reads or writes the caller's memory itself, where a fault is answered: it copies it, or touches it
# before the kernel does.
TOUCHED = """
_IO_fdopen _IO_proc_close __duplocale __freelocale __getdomainname_chk __gethostname_chk __longjmp_chk __ptsname_r_chk __res_mkquery
__res_nmkquery _longjmp adjtime aio_cancel aio_cancel64 aio_fsync aio_fsync64 authdes_pk_create authunix_create
authunix_create_default bindresvport clnt_create clntraw_create clnttcp_create clntunix_create closedir cnd_broadcast cnd_destroy cnd_signal
cnd_timedwait cnd_wait cuserid duplocale fdopen fdopendir freelocale fstatvfs fstatvfs64 ftime fts64_children fts64_close fts_children fts_close
get_myaddress getcontext getdate getdate_r getdomainname gethostname getipv4sourcefilter getloadavg getnetname getpass getsourcefilter
group_member host2netname if_indextoname if_nametoindex initgroups key_decryptsession_pk key_encryptsession_pk longjmp mtx_init mtx_trylock
ntp_gettime ntp_gettimex perror pmap_getmaps profil ptsname_r readdir readdir64 readdir64_r readdir_r res_mkquery res_nmkquery rewinddir rtime
seekdir sem_post sem_unlink setipv4sourcefilter setsourcefilter settimeofday shm_open shm_unlink siglongjmp sigqueue sigstack sigvec stime
svctcp_create svcunix_create tcgetattr tcsetattr textdomain thrd_create user2netname
pthread_attr_setschedparam pthread_barrier_destroy pthread_barrier_wait pthread_cond_broadcast pthread_cond_clockwait pthread_cond_destroy
pthread_cond_signal pthread_cond_timedwait pthread_cond_wait pthread_getschedparam pthread_mutex_init __pthread_mutex_init
pthread_mutex_trylock __pthread_mutex_trylock pthread_rwlock_clockrdlock pthread_rwlock_clockwrlock pthread_rwlock_rdlock
__pthread_rwlock_rdlock pthread_rwlock_timedrdlock pthread_rwlock_timedwrlock pthread_rwlock_tryrdlock __pthread_rwlock_tryrdlock
pthread_rwlock_unlock __pthread_rwlock_unlock pthread_rwlock_wrlock __pthread_rwlock_wrlock pthread_setattr_default_np pthread_sigqueue
fgets fgets_unlocked __fgets_chk __fgets_unlocked_chk fputc fscanf fprintf dprintf vdprintf
""".split()

# Its pages, not its bytes: interpose/libc/libc_memory.c, or nothing is checked on them.
PAGES = """
__madvise __mmap __mprotect __munmap madvise mlock mlock2 mmap mmap64 mprotect mremap msync munlock munmap pkey_mprotect posix_madvise
process_madvise remap_file_pages shmat
""".split()

# Linux no longer has them: they fail whatever they are given.
GONE = "create_module get_kernel_syms nfsservctl query_module".split()

# Only programs linked before glibc 2.28 reach them: dlsym finds none, which costs a program's start six pages.
OLD = ["ustat"]

ALIASES = ("__%s", "%s64", "__%s64", "__%s_chk", "__%s64_chk", "__%s_2", "__%s64_2", "_IO_%s", "%s_unlocked", "__%s_unlocked_chk",
           "%s64v2", "__%s_time64", "__libc_%s")


def c_library():
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return next(line.split()[-1] for line in maps if re.search(r"/libc[.-][^/]*$", line.strip()))


def sections(image):
    start, = struct.unpack_from("<Q", image, 40)
    count, = struct.unpack_from("<H", image, 60)
    return [struct.unpack_from("<IIQQQQIIQQ", image, start + 64 * index) for index in range(count)]


def text_at(image, place):
    return image[place:image.index(b"\0", place)].decode()


def private_versions(image, table):
    """The numbers of the symbol versions that are private to the C library."""
    found = set()
    for _, kind, _, _, place, _, link, count, _, _ in table:
        if kind == 0x6ffffffd:  # SHT_GNU_verdef
            for _ in range(count):
                _, _, index, _, _, names, following = struct.unpack_from("<HHHHIII", image, place)
                name, = struct.unpack_from("<I", image, place + names)
                if text_at(image, table[link][4] + name) == "GLIBC_PRIVATE":
                    found.add(index)
                place += following
    return found


def exported_functions(path):
    """{name: (address, code)} of what programs may use."""
    with open(path, "rb") as file:
        image = file.read()
    table, found = sections(image), {}
    private = private_versions(image, table)
    versions = next(row[4] for row in table if row[1] == 0x6fffffff)  # SHT_GNU_versym
    symbols = next(row for row in table if row[1] == 11)  # SHT_DYNSYM
    for index in range(symbols[5] // 24):
        name, info, _, section, address, size = struct.unpack_from("<IBBHQQ", image, symbols[4] + 24 * index)
        version, = struct.unpack_from("<H", image, versions + 2 * index)
        if info & 15 in (2, 10) and 0 < section < len(table) and version & 0x7fff not in private:
            start = address - table[section][3] + table[section][4]
            found[text_at(image, table[symbols[6]][4] + name)] = address, image[start:start + size]
    return found


def called(address, code):
    for place in range(len(code) - 4):
        if code[place] in (0xe8, 0xe9):
            yield address + place + 5 + struct.unpack_from("<i", code, place + 1)[0]


def callers(functions):
    """The functions that make a system call themselves, and the short ones that call such, or one of those."""
    found = {name for name, (_, code) in functions.items() if SYSTEM_CALL in code}
    for _ in range(2):
        places = {functions[name][0] for name in found if name not in ("abort", "close", "__close", "munmap")}
        found |= {name for name, (address, code) in functions.items()
                  if len(code) <= SHORT and not places.isdisjoint(called(address, code))}
    return found


def rows():
    return set(re.findall(r"^(?:LIBC|BOTH)\((\w+), ", read("interpose/libc/io_calls.def"), re.M))


def spelled(names):
    return {alias % name for name in names for alias in ALIASES}


def covered():
    with open(os.path.join(BUILD, "exports.map"), encoding="utf-8") as made:
        return set(re.findall(r"\b(\w+);", made.read()))


def documented():
    table = re.search(r"## Memory that the kernel reads or writes.*?\n((?:\|[^\n]*\n)+)", read("docs/user/api.md"), re.S).group(1)
    return {name for line in table.splitlines() for name in re.findall(r"`(\w+)`", line.split("|")[1])}


class TestKernelCalls(unittest.TestCase):
    def setUp(self):
        self.path = c_library()
        self.functions = exported_functions(self.path)
        self.assertGreater(len(self.functions), 2000, "functions found in %s" % self.path)

    def test_each_function_is_decided(self):
        found = callers(self.functions)
        self.assertGreater(len(found), 400, "functions that make system calls in %s" % self.path)
        longer, base = spelled(rows()), rows()
        spellings = {name for name in self.functions if name in longer or not base.isdisjoint(spelled([name]))}
        decided = covered() | documented() | set(NOTHING + TOUCHED + PAGES + GONE + OLD)
        self.assertEqual(sorted((found | spellings) - decided), [],
                         "of %s: neither rows of interpose/libc/io_calls.def nor named in docs/user/api.md or here" % self.path)

    def test_rows_are_functions(self):
        """A row that the C library lacks fails with ENOSYS: right for newer functions, wrong for a misspelt one."""
        self.assertEqual(sorted(rows() - set(self.functions)), [])

    def test_each_row_is_exported(self):
        self.assertEqual(sorted(rows() - covered()), [])

    def test_nothing_is_excused_that_is_covered(self):
        self.assertEqual(sorted(rows() & set(NOTHING + TOUCHED + GONE + OLD)), [])


if __name__ == "__main__":
    unittest.main()
