//! Servers that break the rules: the bytes are right, or there is an error, soon.

mod common;

use common::ports::free_port;
use common::scripted::{Request, Scripted, Then, good, multipart, part, send, several, single, slice};
use common::{fetch, impatient, noise, open_right, runtime, scattered};
use sapwood_source::{FetchReport, SourceOptions, SourceStats};
use sapwood_span::{ErrorKind, Result, Span};
use std::io::Write;
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

const SIZE: usize = 3_000_000;

/// Opens, fetches scattered spans twice, compares every byte; takes part in the time limit.
fn read(server: &Scripted, options: &SourceOptions) -> Result<(FetchReport, SourceStats)> {
    let (rt, file) = (runtime(), noise(SIZE));
    let begin = Instant::now();
    let result = (|| {
        let opening = open_right(&rt, &server.url(), options, &file)?;
        fetch(&rt, &opening.source, &scattered(30, SIZE as u64), &file)?;
        let report = fetch(&rt, &opening.source, &scattered(40, SIZE as u64), &file)?;
        Ok((report, opening.source.stats()))
    })();
    // Not a measurement: it only ends a hang.
    assert!(begin.elapsed() < Duration::from_secs(60));
    result
}

/// A server that answers several ranges by the script and everything else correctly.
fn against_several(answer: impl Fn(&Request, &mut TcpStream, &[u8]) -> Then + Send + Sync + 'static) -> Scripted {
    let file = noise(SIZE);
    Scripted::start(SIZE as u64, move |request, stream| {
        if request.ranges.len() > 1 { answer(request, stream, &file) } else { good(request, stream, &file) }
    })
}

fn range_of((a, b): (u64, u64)) -> String {
    format!("{a}-{b}/{SIZE}")
}

#[test]
fn a_good_server_needs_three_requests() {
    let server = against_several(good);
    let (_, stats) = read(&server, &impatient()).unwrap();
    assert_eq!((stats.requests, stats.fallbacks, stats.retries), (3, 0, 0));
}

#[test]
fn the_whole_file_without_end() {
    let server = against_several(|_, stream, _| {
        let mut head = String::from("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").into_bytes();
        head.extend(b"10000\r\n");
        let _ = stream.write_all(&head);
        let chunk = [vec![7; 0x10000], b"\r\n10000\r\n".to_vec()].concat();
        while stream.write_all(&chunk).is_ok() {}
        Then::Close
    });
    let (report, stats) = read(&server, &impatient()).unwrap();
    assert!(stats.fallbacks >= 1);
    let two_fetches_of_single_ranges = 2 * SIZE as u64 * 2;
    assert!(report.wire < two_fetches_of_single_ranges);
    // Learnt once: the next file of this host is not requested so again.
    let hosts = impatient();
    read(&server, &hosts).unwrap();
    let before = server.requests().len();
    read(&server, &hosts).unwrap();
    assert!(server.requests()[before..].iter().all(|r| r.ranges.len() == 1));
}

#[test]
fn the_whole_file_with_its_length() {
    let server = against_several(|_, stream, file| {
        send(stream, "200 OK", &[], file);
        Then::Close
    });
    read(&server, &impatient()).unwrap();
}

#[test]
fn refused_by_status() {
    for status in ["416 Range Not Satisfiable", "400 Bad Request", "403 Forbidden", "501 Not Implemented", "500 Oops"] {
        let server = against_several(move |_, stream, _| send(stream, status, &[], b"no"));
        let (_, stats) = read(&server, &impatient()).unwrap_or_else(|e| panic!("{status}: {e}"));
        assert_eq!(stats.retries, 0, "{status}");
    }
}

#[test]
fn first_range_only() {
    let server = against_several(|request, stream, file| single(stream, request.ranges[0], file));
    let (_, stats) = read(&server, &impatient()).unwrap();
    assert!(stats.fallbacks >= 1);
    let several = server.requests().iter().filter(|r| r.ranges.len() > 1).count();
    assert!(several <= 2, "asked {several} times for several ranges");
}

#[test]
fn parts_reordered() {
    let server = against_several(|request, stream, file| {
        let mut ranges = request.ranges.clone();
        ranges.reverse();
        several(stream, &ranges, file)
    });
    assert_eq!(read(&server, &impatient()).unwrap().1.requests, 3);
}

#[test]
fn parts_merged() {
    let server = against_several(|request, stream, file| {
        // The ends of the file are too far apart to be merged in good faith.
        let together = if request.number == 0 { 1 } else { 2 };
        let merged: Vec<_> = request.ranges.chunks(together).map(|c| (c[0].0, c[c.len() - 1].1)).collect();
        several(stream, &merged, file)
    });
    assert_eq!(read(&server, &impatient()).unwrap().1.requests, 3);
}

#[test]
fn parts_cut_in_two_and_sent_twice() {
    let server = against_several(|request, stream, file| {
        let mut ranges = Vec::new();
        for &(a, b) in &request.ranges {
            let middle = a + (b - a) / 2;
            ranges.extend([(a, b), (a, middle)]);
            if middle < b {
                ranges.push((middle + 1, b));
            }
        }
        several(stream, &ranges, file)
    });
    read(&server, &impatient()).unwrap();
}

#[test]
fn parts_missing() {
    // Every answer lacks every third part: those are requested again, and only those.
    let server = against_several(|request, stream, file| {
        let kept: Vec<_> = request.ranges.iter().enumerate().filter(|(i, _)| i % 3 != 2).map(|(_, r)| *r).collect();
        several(stream, &kept, file)
    });
    read(&server, &impatient()).unwrap();
    let asked: Vec<usize> = server.requests().iter().map(|r| r.ranges.len()).collect();
    assert!(asked[2] * 2 < asked[1], "{asked:?}");
}

#[test]
fn parts_of_something_else() {
    let server = against_several(|_, stream, file| several(stream, &[(1, 5), (2_000_000, 2_000_100)], file));
    let (_, stats) = read(&server, &impatient()).unwrap();
    assert!(stats.fallbacks >= 1);
}

#[test]
fn parts_shorter_than_they_say() {
    let server = against_several(|request, stream, file| {
        let mut body = Vec::new();
        for &r in &request.ranges {
            let data = slice(file, r);
            part(&mut body, "XYZ", &range_of(r), &data[..data.len() / 2]);
        }
        multipart(stream, "XYZ", body)
    });
    read(&server, &impatient()).unwrap();
}

#[test]
fn parts_longer_than_they_say() {
    let server = against_several(|request, stream, file| {
        let mut body = Vec::new();
        for &r in &request.ranges {
            let data = [slice(file, r), b"and more"].concat();
            part(&mut body, "XYZ", &range_of(r), &data);
        }
        multipart(stream, "XYZ", body)
    });
    read(&server, &impatient()).unwrap();
}

#[test]
fn parts_with_nonsense_ranges() {
    for range in ["9-3/10", "0-99999999999999999999999/10", "bytes", "*/3000000", "0-10/5", "-5-9/10"] {
        let server = against_several(move |request, stream, file| {
            let mut body = Vec::new();
            part(&mut body, "XYZ", range, slice(file, request.ranges[0]));
            multipart(stream, "XYZ", body)
        });
        read(&server, &impatient()).unwrap_or_else(|e| panic!("{range}: {e}"));
    }
}

#[test]
fn a_boundary_that_is_not_the_announced_one() {
    let server = against_several(|request, stream, file| {
        let mut body = Vec::new();
        for &r in &request.ranges {
            part(&mut body, "OTHER", &range_of(r), slice(file, r));
        }
        multipart(stream, "XYZ", body)
    });
    read(&server, &impatient()).unwrap();
}

#[test]
fn silence_over_several_ranges() {
    let server = against_several(|_, _, _| Then::Hang);
    read(&server, &impatient()).unwrap();
    let several = server.requests().iter().filter(|r| r.ranges.len() > 1).count();
    assert_eq!(several, 2, "once may be the network, twice is a habit");
}

#[test]
fn broken_off_in_mid_body() {
    // Two answers of three end early: what arrived is kept, the rest requested again.
    let file = noise(SIZE);
    let server = Scripted::start(SIZE as u64, move |request, stream| {
        if request.number % 3 == 0 {
            return good(request, stream, &file);
        }
        let mut body = Vec::new();
        for &r in &request.ranges {
            part(&mut body, "XYZ", &range_of(r), slice(&file, r));
        }
        let (kind, length) = ("multipart/byteranges; boundary=XYZ".to_owned(), (body.len() + 9).to_string());
        body.truncate(body.len() / 2);
        send(stream, "206 Partial Content", &[("Content-Type", kind), ("Content-Length", length)], &body);
        let _ = stream.shutdown(Shutdown::Both);
        Then::Close
    });
    let (_, stats) = read(&server, &impatient()).unwrap();
    assert!(stats.retries > 0);
}

#[test]
fn broken_off_every_time() {
    let file = noise(SIZE);
    let server = Scripted::start(SIZE as u64, move |request, stream| {
        if request.number == 0 {
            return good(request, stream, &file);
        }
        let r = request.ranges[0];
        let range = format!("bytes {}", range_of(r));
        send(
            stream,
            "206 Partial Content",
            &[("Content-Range", range), ("Content-Length", (r.1 - r.0 + 1).to_string())],
            b"",
        );
        Then::Close
    });
    let error = read(&server, &impatient()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io, "{error}");
    assert!(error.to_string().contains("attempts"), "{error}");
}

#[test]
fn stalled_in_mid_body() {
    let file = noise(SIZE);
    let server = Scripted::start(SIZE as u64, move |request, stream| {
        if request.number == 0 {
            return good(request, stream, &file);
        }
        let r = request.ranges[0];
        let range = format!("bytes {}", range_of(r));
        let length = (r.1 - r.0 + 1).to_string();
        send(
            stream,
            "206 Partial Content",
            &[("Content-Range", range), ("Content-Length", length)],
            &slice(&file, r)[..1],
        );
        Then::Hang
    });
    let error = read(&server, &SourceOptions { retries: 1, ..impatient() }).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    assert!(error.to_string().contains("progress timeout"), "{error}");
}

#[test]
fn a_slow_answer_that_moves_is_fine() {
    let file = noise(SIZE);
    let server = Scripted::start(SIZE as u64, move |request, stream| {
        if request.number == 0 {
            return good(request, stream, &file);
        }
        // from the first requested byte to the last
        let r = (request.ranges[0].0, request.ranges[request.ranges.len() - 1].1);
        let length = (r.1 - r.0 + 1).to_string();
        let range = format!("bytes {}", range_of(r));
        send(stream, "206 Partial Content", &[("Content-Range", range), ("Content-Length", length)], b"");
        for piece in slice(&file, r).chunks((r.1 - r.0) as usize / 8 + 1) {
            std::thread::sleep(Duration::from_millis(100));
            let _ = stream.write_all(piece);
        }
        Then::Keep
    });
    let (rt, file) = (runtime(), noise(SIZE));
    // half of the progress timeout is for a retry
    let options = SourceOptions { progress_timeout: Duration::from_secs(20), ..impatient() };
    let opening = open_right(&rt, &server.url(), &options, &file).unwrap();
    let report = fetch(&rt, &opening.source, &[Span::new(1000, 1000)], &file).unwrap();
    assert_eq!((report.requests, report.retries), (1, 0));
}

#[test]
fn garbage_instead_of_http() {
    let server = Scripted::start(SIZE as u64, |_, stream| {
        let _ = stream.write_all(b"\x00\x01\x02 what is this\r\n\r\n");
        Then::Close
    });
    let error = read(&server, &impatient()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol, "{error}");
}

#[test]
fn content_length_against_content_range() {
    let file = noise(SIZE);
    let server = Scripted::start(SIZE as u64, move |request, stream| {
        let range = format!("bytes {}", range_of(request.ranges[0]));
        send(stream, "206 Partial Content", &[("Content-Range", range)], &file[..7])
    });
    let error = read(&server, &impatient()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol, "{error}");
}

#[test]
fn encoded_although_asked_not_to() {
    let server = Scripted::start(SIZE as u64, |request, stream| {
        assert_eq!(request.headers["accept-encoding"], "identity");
        let range = format!("bytes {}", range_of(request.ranges[0]));
        send(stream, "206 Partial Content", &[("Content-Range", range), ("Content-Encoding", "gzip".into())], b"xyz")
    });
    let error = read(&server, &impatient()).unwrap_err();
    assert!(error.to_string().contains("gzip"), "{error}");
}

#[test]
fn a_busy_server_is_asked_again() {
    let file = noise(SIZE);
    let server = Scripted::start(SIZE as u64, move |request, stream| match request.number % 3 {
        0 => send(stream, "503 Busy", &[("Retry-After", "0".into())], b"later"),
        1 => send(stream, "429 Too Many", &[], b""),
        _ => good(request, stream, &file),
    });
    let (_, stats) = read(&server, &impatient()).unwrap();
    assert_eq!(stats.retries, 6);
    let server = Scripted::start(SIZE as u64, |_, stream| send(stream, "503 Busy", &[], b"never"));
    let error = read(&server, &impatient()).unwrap_err();
    assert!(error.to_string().contains("503") && error.to_string().contains("attempts"), "{error}");
    assert_eq!(server.requests().len(), 4);
}

#[test]
fn two_ranges_told_for_one_body() {
    let file = noise(SIZE);
    let server = Scripted::start(SIZE as u64, move |request, stream| {
        let r = request.ranges[0];
        let told = format!("bytes {}", range_of(r));
        let other = format!("bytes 0-{}/{SIZE}", r.1 - r.0);
        send(
            stream,
            "206 Partial Content",
            &[("Content-Range", told), ("Content-Range", other), ("Content-Length", (r.1 - r.0 + 1).to_string())],
            slice(&file, r),
        )
    });
    let error = read(&server, &impatient()).unwrap_err();
    assert!(error.to_string().contains("two different Content-Range headers"), "{error}");
}

#[test]
fn a_tls_handshake_that_never_goes_on_ends_with_the_progress_timeout() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/f.root", listener.local_addr().unwrap());
    let (rt, file) = (runtime(), noise(SIZE));
    let longest = Duration::from_millis(300);
    let options = SourceOptions { retries: 0, progress_timeout: longest, ..impatient() };
    assert!(options.connect_timeout > longest);
    let error = open_right(&rt, &url, &options, &file).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert!(error.to_string().contains("300ms"), "{error}");
}

#[test]
fn a_proxy_that_wants_a_password_is_told_from_the_server() {
    let server = Scripted::start(SIZE as u64, |_, stream| send(stream, "407 Proxy Authentication Required", &[], b""));
    let error = read(&server, &impatient()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied);
    assert!(error.to_string().contains("http_proxy"), "{error}");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn unauthorised() {
    let server = Scripted::start(SIZE as u64, |_, stream| send(stream, "401 Unauthorized", &[], b""));
    let error = read(&server, &impatient()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied);
    assert!(error.to_string().contains("BEARER_TOKEN"), "{error}");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn no_server() {
    let port = free_port();
    let error = open_right(&runtime(), &format!("http://127.0.0.1:{port}/f"), &impatient(), &[]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.to_string().contains("cannot connect"), "{error}");
}
