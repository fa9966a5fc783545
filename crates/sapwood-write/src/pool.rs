//! Compression on all cores: baskets go in one by one and come out compressed, in any order.

use sapwood_codec::{Compression, Encoder, store, xxh3};
use sapwood_column::ntuple::PageEncoding;
use sapwood_span::defect::{caught, inject};
use sapwood_span::sync::{lock, wait};
use sapwood_span::{Error, Result};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;

/// Bytes that the caller compresses itself before threads are worth starting.
const THREADS_FROM: u64 = 1 << 20;
/// Bytes of buffers kept for reuse.
const SPARE: usize = 4 << 20;
/// Bytes waiting to be compressed; beyond it, the thread that adds more helps.
const WAITING: usize = 8 << 20;

/// A basket's bytes, or a part of them, to be compressed.
pub(crate) struct Job {
    compression: Compression,
    /// The result where it does not get smaller: still blocks if it is a part, because its basket is a chain of them;
    /// otherwise the original bytes.
    part: bool,
    /// How the bytes become a page of an ntuple, whose checksum follows it.
    page: Option<PageEncoding>,
    bytes: Mutex<Option<Vec<u8>>>,
    packed: Mutex<Option<Vec<u8>>>,
    /// Why `packed` has nothing to write.
    defect: Mutex<Option<Error>>,
}

impl Job {
    /// The bytes for the file, only once: compressed, or the original where that is not longer and it is not a part.
    ///
    /// # Errors
    /// Compression panicked.
    pub(crate) fn take(&self) -> Result<Option<Vec<u8>>> {
        match lock(&self.defect).take() {
            Some(defect) => Err(defect),
            None => Ok(lock(&self.packed).take()),
        }
    }

    /// Bytes in the file, once known.
    pub(crate) fn stored_len(&self) -> Option<u64> {
        lock(&self.packed).as_ref().map(|p| p.len() as u64)
    }

    /// Compresses the bytes; returns their buffer if it is no longer needed.
    fn run(&self, packer: &mut Packer) -> Option<Vec<u8>> {
        let bytes = lock(&self.bytes).take()?;
        let (packed, free) = caught(|| Ok(self.pack(bytes, packer))).unwrap_or_else(|defect| {
            *packer = Packer::default();
            *lock(&self.defect) = Some(defect);
            (Vec::new(), None)
        });
        *lock(&self.packed) = Some(packed);
        free
    }

    /// The result, and the buffer of the bytes if it is no longer needed.
    fn pack(&self, bytes: Vec<u8>, packer: &mut Packer) -> (Vec<u8>, Option<Vec<u8>>) {
        inject::here("pack");
        let Packer { encoder, out, page } = packer;
        out.clear();
        if let Some(encoding) = self.page {
            page.clear();
            encoding.encode(&bytes, page);
            let stored: &[u8] =
                if encoder.compress_planes(page, encoding.planes(), self.compression, out) { out } else { page };
            let checksum = xxh3(stored);
            return ([stored, &checksum.to_le_bytes()].concat(), Some(bytes));
        }
        let mut shrunk = encoder.compress(&bytes, self.compression, out);
        if self.part && !shrunk {
            out.clear();
            store(&bytes, out);
            shrunk = true;
        }
        // the exact length: the room that compression may need is many times larger
        if shrunk { (out.clone(), Some(bytes)) } else { (bytes, None) }
    }
}

/// Working memory for compression, reused from basket to basket.
#[derive(Default)]
struct Packer {
    encoder: Encoder,
    out: Vec<u8>,
    /// A page before compression.
    page: Vec<u8>,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<(Arc<Job>, usize)>,
    /// Bytes of these.
    waiting: usize,
    spare: Vec<Vec<u8>>,
    spare_bytes: usize,
    closed: bool,
}

impl Queue {
    fn push(&mut self, job: Arc<Job>, bytes: usize) {
        self.waiting += bytes;
        self.jobs.push_back((job, bytes));
    }

    /// The oldest job not yet started.
    fn pop(&mut self) -> Option<Arc<Job>> {
        let (job, bytes) = self.jobs.pop_front()?;
        self.waiting -= bytes;
        Some(job)
    }

    /// Keeps a buffer for reuse, if there are not enough.
    fn keep(&mut self, buffer: Option<Vec<u8>>) {
        let Some(mut buffer) = buffer.filter(|b| b.capacity() <= SPARE - self.spare_bytes) else { return };
        buffer.clear();
        self.spare_bytes += buffer.capacity();
        self.spare.push(buffer);
    }
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    more: Condvar,
    done: Condvar,
}

/// Threads that compress, started when there is enough to do, and the caller, which helps while it waits.
pub(crate) struct Pool {
    shared: Arc<Shared>,
    most: usize,
    threads: Vec<JoinHandle<()>>,
    packer: Packer,
    given: u64,
    /// The process that has its threads; a forked child has none of them.
    process: u32,
}

impl Pool {
    /// A pool of at most this many threads; all cores for 0.
    pub(crate) fn new(threads: usize) -> Self {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let most = if threads == 0 { cores() } else { threads };
        let process = std::process::id();
        Self { shared: Arc::default(), most, threads: Vec::new(), packer: Packer::default(), given: 0, process }
    }

    /// Submits a basket's bytes, or a part of them, for compression.
    pub(crate) fn submit(&mut self, bytes: Vec<u8>, compression: Compression, part: bool) -> Arc<Job> {
        self.submit_job(bytes, compression, part, None)
    }

    /// Submits elements of an ntuple's column to become a page with a checksum behind it.
    pub(crate) fn submit_page(&mut self, bytes: Vec<u8>, compression: Compression, page: PageEncoding) -> Arc<Job> {
        self.submit_job(bytes, compression, false, Some(page))
    }

    fn submit_job(
        &mut self,
        bytes: Vec<u8>,
        compression: Compression,
        part: bool,
        page: Option<PageEncoding>,
    ) -> Arc<Job> {
        let len = bytes.len();
        self.given += len as u64;
        let job = Arc::new(Job {
            compression,
            part,
            page,
            bytes: Mutex::new(Some(bytes)),
            packed: Mutex::new(None),
            defect: Mutex::new(None),
        });
        if compression == Compression::NONE || self.most < 2 || (self.threads.is_empty() && self.given < THREADS_FROM) {
            let free = job.run(&mut self.packer);
            lock(&self.shared.queue).keep(free);
            return job;
        }
        self.start();
        let mut queue = lock(&self.shared.queue);
        queue.push(job.clone(), len);
        self.shared.more.notify_one();
        while queue.waiting > WAITING
            && let Some(next) = queue.pop()
        {
            drop(queue);
            let free = next.run(&mut self.packer);
            queue = lock(&self.shared.queue);
            queue.keep(free);
        }
        drop(queue);
        job
    }

    fn start(&mut self) {
        while self.threads.len() < self.most {
            let shared = self.shared.clone();
            let thread = std::thread::Builder::new().name("sapwood-compress".into());
            match thread.spawn(move || work(&shared)) {
                Ok(thread) => self.threads.push(thread),
                // fewer threads are enough, even none: a thread that waits for a job does it
                Err(_) => break,
            }
        }
    }

    /// Compresses pending jobs, or waits, until this job is done.
    pub(crate) fn wait_for(&mut self, job: &Job) {
        while job.stored_len().is_none() {
            let mut queue = lock(&self.shared.queue);
            if let Some(next) = queue.pop() {
                drop(queue);
                let free = next.run(&mut self.packer);
                lock(&self.shared.queue).keep(free);
            } else if job.stored_len().is_none() {
                // a worker has it, and takes the lock before it notifies
                drop(wait(&self.shared.done, queue));
            }
        }
    }

    /// An empty buffer, reused if there is one.
    pub(crate) fn buffer(&self) -> Vec<u8> {
        let mut queue = lock(&self.shared.queue);
        let buffer = queue.spare.pop().unwrap_or_default();
        queue.spare_bytes -= buffer.capacity();
        buffer
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            // there is no thread to wait for, and the lock may be held by one that does not exist here
            self.threads.drain(..).for_each(std::mem::forget);
            return;
        }
        let mut queue = lock(&self.shared.queue);
        queue.closed = true;
        queue.jobs.clear();
        drop(queue);
        self.shared.more.notify_all();
        for thread in self.threads.drain(..) {
            // it caught its panics itself
            let _ = thread.join();
        }
    }
}

fn work(shared: &Shared) {
    let mut packer = Packer::default();
    let mut queue = lock(&shared.queue);
    while !queue.closed {
        if let Some(job) = queue.pop() {
            drop(queue);
            let free = job.run(&mut packer);
            queue = lock(&shared.queue);
            queue.keep(free);
            shared.done.notify_all();
        } else {
            queue = wait(&shared.more, queue);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sapwood_codec::Decoder;

    #[test]
    fn every_job_is_done_whoever_does_it() {
        for threads in [1, 3] {
            let mut pool = Pool::new(threads);
            let bytes = |i: usize| (0..40_000).map(|j| (i * j / 97) as u8).collect::<Vec<u8>>();
            let jobs: Vec<_> = (0..60).map(|i| pool.submit(bytes(i), Compression::default(), i % 2 == 0)).collect();
            for (i, job) in jobs.iter().enumerate() {
                pool.wait_for(job);
                let packed = job.take().unwrap().unwrap();
                let mut out = Vec::new();
                Decoder::new().decompress_vec(&packed, &mut out, 40_000).unwrap();
                assert_eq!(out, bytes(i));
            }
        }
    }
}
