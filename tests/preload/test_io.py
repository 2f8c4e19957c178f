# SPDX-License-Identifier: Apache-2.0
"""Input and output on arrays whose newest values only the device holds, and into such arrays.

The kernel does not fault on a protected page, it returns EFAULT: every road by which a buffer
reaches a system call must fetch the pages first. What reads through the CPU must fault well.
"""
import unittest

import shim_runner

PRELUDE = '''
import ctypes, hashlib, io, mmap, os, pickle, socket, struct, sys, tempfile, threading, zlib
import numpy as np
from shim_script import attempt, dump, on_device, residency

work = tempfile.TemporaryDirectory()
count = 0
SIZES = (3000, 700001)  # one small block; several chunks and a ragged end

def path():
    global count
    count += 1
    return os.path.join(work.name, "f%d" % count)

def fresh(size, dtype="f8"):
    """An array that only the device holds; the base stays where it is."""
    array = on_device(np.arange(size, dtype=dtype))
    assert residency(array) in ("plain", "device"), residency(array)
    return array

def target(size):
    """A device-resident array to be overwritten."""
    return fresh(size) + 1

def digest(data):
    return hashlib.sha256(data).hexdigest()

def file_digest(name):
    with open(name, "rb") as stream:
        return digest(stream.read())

def cases(*functions):
    for size in SIZES:
        for function in functions:
            attempt("%s %d" % (function.__name__, size), function, size)

def used(array):
    """Its values, and that the device still computes rightly from them."""
    return digest(array.tobytes()), digest((array + 1).tobytes())
'''

FILES = PRELUDE + '''
def save_load(size):
    name = path() + ".npy"; np.save(name, fresh(size)); return used(np.load(name))
def save_stream(size):
    stream = io.BytesIO(); np.save(stream, fresh(size)); return digest(stream.getvalue())
def savez(size):
    name = path() + ".npz"; np.savez(name, a=fresh(size), b=fresh(7))
    return used(np.load(name)["a"])
def savez_compressed(size):
    name = path() + ".npz"; np.savez_compressed(name, a=fresh(size))
    return used(np.load(name)["a"])
def load_mmap(size):
    name = path() + ".npy"; np.save(name, fresh(size))
    return used(np.load(name, mmap_mode="r") + fresh(size))
def tofile_path(size):
    name = path(); fresh(size).tofile(name); return file_digest(name)
def tofile_stream(size):
    name = path()
    with open(name, "wb") as stream:
        stream.write(b"head"); fresh(size).tofile(stream); stream.write(b"tail")
    return file_digest(name)
def tofile_strided(size):
    name = path(); fresh(size)[::3].tofile(name); return file_digest(name)
def tofile_text(size):
    name = path(); fresh(size)[:500].tofile(name, sep=" "); return file_digest(name)
def fromfile(size):
    name = path(); fresh(size).tofile(name); return used(np.fromfile(name))
def write_buffered(size):
    name = path()
    with open(name, "wb") as stream: written = stream.write(fresh(size))
    return written, file_digest(name)
def write_raw(size):
    name = path()
    with open(name, "wb", buffering=0) as stream: written = stream.write(fresh(size))
    return written, file_digest(name)
def writelines(size):
    name = path()
    with open(name, "wb") as stream: stream.writelines([fresh(size), fresh(10)])
    return file_digest(name)
def readinto_buffered(size):
    name = path(); fresh(size).tofile(name); array = target(size)
    with open(name, "rb") as stream: read = stream.readinto(array)
    return read, used(array)
def readinto_raw(size):
    name = path(); fresh(size).tofile(name); array = target(size)
    with open(name, "rb", buffering=0) as stream: read = stream.readinto(array)
    return read, used(array)
def readinto_shared(size):
    name = path(); fresh(size).tofile(name); array = target(size); array[0]; array[-1]
    with open(name, "rb", buffering=0) as stream: read = stream.readinto(array)
    return read, used(array)
def readinto_part(size):
    name = path(); fresh(size).tofile(name); array = target(size)
    with open(name, "rb", buffering=0) as stream: read = stream.readinto(array[size // 3:size // 2])
    return read, used(array)
def memmap_assign(size):
    mapped = np.memmap(path(), "f8", "w+", shape=size); mapped[:] = fresh(size); mapped.flush()
    return used(mapped)
def mmap_slice(size):
    array = fresh(size); area = mmap.mmap(-1, array.nbytes); area[:] = memoryview(array).cast("B")
    return digest(area)
def mmap_write(size):
    array = fresh(size); area = mmap.mmap(-1, array.nbytes); area.write(array); return digest(area)
def text_file(size):
    name = path(); np.savetxt(name, fresh(size)[:200]); return file_digest(name)
cases(save_load, save_stream, savez, savez_compressed, load_mmap, tofile_path, tofile_stream,
      tofile_strided, tofile_text, fromfile, write_buffered, write_raw, writelines,
      readinto_buffered, readinto_raw, readinto_shared, readinto_part, memmap_assign, mmap_slice,
      mmap_write, text_file)
sys.stdout.buffer.write(fresh(100)); sys.stdout.buffer.flush()
'''

DESCRIPTORS = PRELUDE + '''
def opened():
    return os.open(path(), os.O_RDWR | os.O_CREAT)
def content(fd):
    return digest(os.pread(fd, 1 << 26, 0))
def os_write(size):
    fd = opened(); return os.write(fd, fresh(size)), content(fd)
def os_pwrite(size):
    fd = opened(); return os.pwrite(fd, fresh(size), 5), content(fd)
def os_writev(size):
    fd = opened(); return os.writev(fd, [fresh(size), b"mid", fresh(10)]), content(fd)
def os_pwritev(size):
    fd = opened(); return os.pwritev(fd, [fresh(size), fresh(10)], 3), content(fd)
def os_readv(size):
    fd = opened(); os.write(fd, fresh(size)); os.lseek(fd, 0, 0)
    a, b = target(size // 2), target(9)
    return os.readv(fd, [a, b]), used(a), used(b)
def os_preadv(size):
    fd = opened(); os.write(fd, fresh(size)); a = target(size - 1)
    return os.preadv(fd, [a], 8), used(a)
def pipe(size):
    array, got = fresh(size), bytearray(); r, w = os.pipe()
    def drain():
        while True:
            piece = os.read(r, 1 << 16)
            if not piece: break
            got.extend(piece)
    reader = threading.Thread(target=drain); reader.start()
    view = memoryview(array).cast("B")
    while len(view): view = view[os.write(w, view):]
    os.close(w); reader.join(); os.close(r); return digest(got)
def libc_write(size):
    fd = opened(); array = fresh(size); libc = ctypes.CDLL(None)
    return libc.write(fd, ctypes.c_void_p(array.ctypes.data), array.nbytes), content(fd)
def libc_read(size):
    fd = opened(); os.write(fd, fresh(size)); os.lseek(fd, 0, 0); array = target(size)
    libc = ctypes.CDLL(None)
    return libc.read(fd, ctypes.c_void_p(array.ctypes.data), array.nbytes), used(array)
def libc_fwrite(size):
    name = path(); libc = ctypes.CDLL(None); array = fresh(size)
    libc.fopen.restype = ctypes.c_void_p
    stream = ctypes.c_void_p(libc.fopen(name.encode(), b"wb"))
    n = libc.fwrite(ctypes.c_void_p(array.ctypes.data), 8, size, stream); libc.fclose(stream)
    return n, file_digest(name)
def libc_fread(size):
    name = path(); fresh(size).tofile(name); libc = ctypes.CDLL(None); array = target(size)
    libc.fopen.restype = ctypes.c_void_p
    stream = ctypes.c_void_p(libc.fopen(name.encode(), b"rb"))
    n = libc.fread(ctypes.c_void_p(array.ctypes.data), 8, size, stream); libc.fclose(stream)
    return n, used(array)
def getrandom(size):
    array = target(size); libc = ctypes.CDLL(None)
    n = libc.getrandom(ctypes.c_void_p(array.ctypes.data), 256, 0)
    return n, digest(array[32:].tobytes()), bool((array[:32].view("u8") != 0).any())
def write_closed(size):
    return os.write(10 ** 6, fresh(size))
def write_read_only_fd(size):
    return os.write(os.open(os.devnull, os.O_RDONLY), fresh(size))
def xattr(size):
    name = path(); open(name, "w").close(); os.setxattr(name, b"user.t", fresh(300))
    return digest(os.getxattr(name, b"user.t"))
cases(os_write, os_pwrite, os_writev, os_pwritev, os_readv, os_preadv, pipe, libc_write, libc_read,
      libc_fwrite, libc_fread, getrandom, write_closed, write_read_only_fd, xattr)
'''

SOCKETS = PRELUDE + '''
def exchange(send, receive):
    """Both ends at once: streams hold less than an array."""
    left, right = socket.socketpair(); out = []
    sender = threading.Thread(target=lambda: (send(left), left.close())); sender.start()
    result = receive(right); sender.join(); right.close(); return result
def drain(sock):
    got = bytearray()
    while True:
        piece = sock.recv(1 << 16)
        if not piece: return digest(got)
        got.extend(piece)
def send_all_of(array):
    def send(sock):
        view = memoryview(array).cast("B")
        while len(view): view = view[sock.send(view):]
    return send
def sendall(size):
    array = fresh(size); return exchange(lambda s: s.sendall(array), drain)
def send(size):
    return exchange(send_all_of(fresh(size)), drain)
def sendmsg(size):
    array = fresh(1000); return exchange(lambda s: s.sendmsg([array, b"x", fresh(100)]), drain)
def fill(array, receive):
    def run(sock):
        view, at = memoryview(array).cast("B"), 0
        while at < len(view):
            n = receive(sock, view[at:])
            if not n: break
            at += n
        return at, used(array)
    return run
def recv_into(size):
    return exchange(send_all_of(fresh(size)), fill(target(size), lambda s, v: s.recv_into(v)))
def recvfrom_into(size):
    return exchange(send_all_of(fresh(size)), fill(target(size), lambda s, v: s.recvfrom_into(v)[0]))
def recvmsg_into(size):
    return exchange(send_all_of(fresh(size)), fill(target(size), lambda s, v: s.recvmsg_into([v])[0]))
def pair():
    a = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); a.bind(("127.0.0.1", 0)); a.settimeout(10)
    b = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); b.settimeout(10)
    return a, b, a.getsockname()
def datagram_out(size):
    a, b, address = pair(); b.sendto(fresh(500), address); return digest(a.recv(8000))
def datagram_in(size):
    a, b, address = pair(); array = target(size); b.sendto(b"q" * 800, address)
    return a.recv_into(array), used(array)
def datagram_from(size):
    a, b, address = pair(); array = target(size); b.sendto(b"r" * 800, address)
    return a.recvfrom_into(array)[0], used(array)
def blocked_receive(size):
    """A receive that waits while the device is given the same array: its bytes must arrive."""
    a, b, address = pair(); array = target(size); got = []
    waiter = threading.Thread(target=lambda: got.append(a.recv_into(array))); waiter.start()
    for _ in range(50):
        array + 1; np.multiply(array, 1.0, out=array)
    b.sendto(b"s" * 800, address); waiter.join()
    return got, digest(array[:100].tobytes()), used(array)
def sockopt(size):
    a, b, address = pair(); value = fresh(4); value[:] = 0
    value = on_device(np.array([1, 0, 0, 0, 0, 0, 0, 0], dtype="i4"))
    a.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, value)
    return a.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR) != 0
def makefile(size):
    array = fresh(size)
    def send(sock):
        with sock.makefile("wb") as stream: stream.write(array)
    return exchange(send, drain)
cases(sendall, send, sendmsg, recv_into, recvfrom_into, recvmsg_into, datagram_out, datagram_in,
      datagram_from, blocked_receive, sockopt, makefile)
'''

MEMORY = PRELUDE + '''
import array as array_module, base64, bz2, copy, gzip, sqlite3, ssl, binascii
from multiprocessing import shared_memory
def pickle_in_band(size):
    return used(pickle.loads(pickle.dumps(fresh(size), protocol=5)))
def pickle_old(size):
    return [used(pickle.loads(pickle.dumps(fresh(size), protocol=p))) for p in (2, 4)]
def pickle_out_of_band(size):
    buffers = []; data = pickle.dumps(fresh(size), protocol=5, buffer_callback=buffers.append)
    return digest(data), [digest(b.raw()) for b in buffers], used(pickle.loads(data, buffers=buffers))
def pickle_file(size):
    name = path()
    with open(name, "wb") as stream: pickle.dump(fresh(size), stream, protocol=5)
    with open(name, "rb") as stream: return used(pickle.load(stream))
def memoryview_read(size):
    view = memoryview(fresh(size)); return view[0], view[size - 1], digest(view), view[5:9].tolist()
def memoryview_write(size):
    array = target(size); view = memoryview(array); view[3] = -1.0; view[10:12] = view[20:22]
    return used(array)
def to_bytes(size):
    array = fresh(size)
    return digest(array.tobytes()), digest(bytes(fresh(size))), digest(bytearray(fresh(size)))
def string_at(size):
    array = fresh(size); return digest(ctypes.string_at(array.ctypes.data, array.nbytes))
def memmove_out(size):
    array = fresh(size); buffer = ctypes.create_string_buffer(array.nbytes)
    ctypes.memmove(buffer, array.ctypes.data, array.nbytes); return digest(buffer.raw)
def memmove_in(size):
    array = target(size); ctypes.memmove(array.ctypes.data + 8, b"x" * 160, 160); return used(array)
def from_buffer(size):
    array = fresh(size); values = (ctypes.c_double * size).from_buffer(array)
    before = values[7]; values[7] = 99.0; return before, used(array)
def hashes(size):
    return [hashlib.new(name, fresh(size)).hexdigest() for name in ("sha256", "blake2b", "md5")]
def checksums(size):
    return zlib.crc32(fresh(size)), zlib.adler32(fresh(size)), binascii.crc32(fresh(size))
def compression(size):
    data = zlib.compress(fresh(size), 1), bz2.compress(fresh(size)[:3000]), gzip.compress(fresh(size)[:3000], mtime=0)
    return [digest(d) for d in data]
def gzip_file(size):
    name = path()
    with gzip.open(name, "wb", 1) as stream: stream.write(fresh(size)[:50000])
    with gzip.open(name) as stream: return digest(stream.read())
def structs(size):
    array = target(size); struct.pack_into("=dq", array, 16, 2.5, 7)
    return struct.unpack_from("=dddd", fresh(size), 8 * (size - 4)), used(array)
def encodings(size):
    return digest(base64.b64encode(fresh(size))), digest(binascii.hexlify(fresh(size)))
def array_array(size):
    other = array_module.array("d"); other.frombytes(memoryview(fresh(size)).cast("B"))
    return digest(other)
def sqlite_blob(size):
    base = sqlite3.connect(":memory:"); base.execute("create table t(b blob)")
    base.execute("insert into t values(?)", (fresh(size),))
    return digest(base.execute("select b from t").fetchone()[0])
def tls_memory(size):
    bio = ssl.MemoryBIO(); bio.write(fresh(size)); return digest(bio.read())
def shared(size):
    array = fresh(size); area = shared_memory.SharedMemory(create=True, size=array.nbytes)
    copy_ = np.ndarray(size, "f8", area.buf); copy_[:] = array; result = used(copy_)
    del copy_; area.close(); area.unlink(); return result
def frombuffer(size):
    array = fresh(size); other = np.frombuffer(array, "i8")
    return digest(other.tobytes()), used(array)
def copies(size):
    return [digest(c.tobytes()) for c in (copy.copy(fresh(size)), copy.deepcopy(fresh(size)),
            np.array(fresh(size)), np.ascontiguousarray(fresh(size)[::2]))]
def lists(size):
    array = fresh(size)
    return array[:20].tolist(), str(array), repr(array[::size // 5]), float(array[-1])
def random_out(size):
    array = target(size); np.random.Generator(np.random.PCG64(3)).random(out=array)
    return used(array)
def indexing(size):
    array = fresh(size); index = np.array([0, 5, size - 1]); mask = array > size - 4
    array2 = fresh(size); array2[index] = -5; array2[7] = 3
    return array[index].tolist(), array[mask].tolist(), used(array2)
def sorting(size):
    array = on_device(np.arange(size, 0, -1.0)); array.sort(); return used(array)
def interface(size):
    class Holder:
        def __init__(self, a): self.a = a; self.__array_interface__ = a.__array_interface__
    return used(np.asarray(Holder(fresh(size))))
def resized(size):
    array = on_device(np.arange(float(size))); array.resize(size + 1000, refcheck=False)
    return used(array)
def byteswapped(size):
    return digest(fresh(size).byteswap().tobytes()), used(fresh(size).view("i8"))
cases(pickle_in_band, pickle_old, pickle_out_of_band, pickle_file, memoryview_read,
      memoryview_write, to_bytes, string_at, memmove_out, memmove_in, from_buffer, hashes,
      checksums, compression, gzip_file, structs, encodings, array_array, sqlite_blob, tls_memory,
      shared, frombuffer, copies, lists, random_out, indexing, sorting, interface, resized,
      byteswapped)
'''

PROCESS_PIPES = PRELUDE + '''
import multiprocessing, subprocess
def subprocess_input(size):
    done = subprocess.run([sys.executable, "-c", "import sys, hashlib; "
                           "print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())"],
                          input=memoryview(fresh(size)).cast("B"), stdout=subprocess.PIPE, check=True)
    return done.stdout
def popen_write(size):
    child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    got = []; reader = threading.Thread(target=lambda: got.append(child.stdout.read()))
    reader.start()
    child.stdin.write(fresh(size)); child.stdin.close(); reader.join(); child.stdout.close()
    return child.wait(), digest(got[0])
def connection(size):
    left, right = multiprocessing.Pipe(); array = fresh(size)
    sender = threading.Thread(target=lambda: left.send_bytes(array)); sender.start()
    result = digest(right.recv_bytes()); sender.join(); return result
def connection_into(size):
    left, right = multiprocessing.Pipe(); array, into = fresh(size), target(size)
    sender = threading.Thread(target=lambda: left.send_bytes(array)); sender.start()
    n = right.recv_bytes_into(into); sender.join(); return n, used(into)
cases(subprocess_input, popen_write, connection, connection_into)
'''


class TestIo(shim_runner.TestCase):
    def check(self, script):
        shimmed = self.assert_same(script, device="add", same_stderr=True)
        failed = [name for name, record in shimmed.values.items() if record[0] == "exception"
                  and not name.startswith(("write_closed", "write_read_only_fd", "xattr"))]
        self.assertEqual(failed, [], "cases that fail in both runs test nothing: %s" %
                         [shimmed.values[name] for name in failed])

    def test_files(self):
        self.check(FILES)

    def test_descriptors(self):
        self.check(DESCRIPTORS)

    def test_sockets(self):
        self.check(SOCKETS)

    def test_memory(self):
        self.check(MEMORY)

    def test_process_pipes(self):
        self.check(PROCESS_PIPES)


if __name__ == "__main__":
    unittest.main()
