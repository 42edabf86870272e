//! `measure --open`: the page remains when the sweep has ended, until it is interrupted.

#![cfg(target_os = "linux")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// A sweep that ends with the test.
struct Sweep(Child);

impl Drop for Sweep {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_sweep_that_says_where_it_remains_can_be_interrupted_at_once() {
    let place = tempfile::tempdir().unwrap();
    // Whoever is not yet listened to when it is said is ended by the signal, now and then.
    for round in 0..20 {
        let output = format!("sweep{round}.json");
        let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
        command.args(["measure", "--open", "--no-browser", "-c", "1", "-o", &output, "--", "true"]);
        command.current_dir(place.path()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut sweep = Sweep(command.spawn().unwrap());
        let mut stderr = BufReader::new(sweep.0.stderr.take().unwrap());
        let mut said = String::new();
        while !said.contains("until") {
            assert!(stderr.read_line(&mut said).unwrap() > 0, "{said}");
        }
        let signal = ["-INT", "-TERM"][round % 2];
        if round == 0 {
            let (_, url) = said.split_once("http://").unwrap();
            let host = url.split('/').next().unwrap();
            let mut stream = TcpStream::connect(host).unwrap();
            stream.write_all(b"GET / HTTP/1.0\r\n\r\n").unwrap();
            let mut first = [0; 5];
            stream.read_exact(&mut first).unwrap();
            assert_eq!(&first, b"HTTP/");
        }
        let number = sweep.0.id().to_string();
        assert!(Command::new("kill").args([signal, &number]).status().unwrap().success());
        let status = sweep.0.wait().unwrap();
        assert_eq!(status.code(), Some(0), "round {round}, {signal}: {status}, {said}");
    }
}
