//! A connection for asking a server whether it is there.

use crate::repository::Outcome;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(5);

pub(super) struct Wire {
    stream: TcpStream,
}

impl Wire {
    pub(super) fn open(address: &str) -> Outcome<Self> {
        let parsed: SocketAddr = address.parse().map_err(|error| format!("{address}: {error}"))?;
        let stream = TcpStream::connect_timeout(&parsed, PATIENCE).map_err(failed)?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
        stream.set_write_timeout(Some(PATIENCE)).map_err(failed)?;
        Ok(Self { stream })
    }

    pub(super) fn send(&mut self, bytes: &[u8]) -> Outcome {
        self.stream.write_all(bytes).map_err(failed)
    }

    pub(super) fn receive(&mut self, count: usize) -> Outcome<Vec<u8>> {
        let mut bytes = vec![0; count];
        self.stream.read_exact(&mut bytes).map_err(failed)?;
        Ok(bytes)
    }

    /// All that comes until the other side closes.
    pub(super) fn rest(mut self) -> Outcome<String> {
        let mut bytes = Vec::new();
        self.stream.read_to_end(&mut bytes).map_err(failed)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// Sends all of it and reads until the other side closes.
pub(super) fn exchange(address: &str, request: &str) -> Outcome<String> {
    let mut wire = Wire::open(address)?;
    wire.send(request.as_bytes())?;
    wire.rest()
}

fn failed(error: std::io::Error) -> String {
    error.to_string()
}
