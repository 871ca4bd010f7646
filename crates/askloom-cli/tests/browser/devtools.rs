//! A browser that is told what to do by its own protocol: JSON over a pair of pipes, each message ended by a zero.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

/// What never comes must not hang a test; a browser that starts on a busy machine may take a while.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Browser {
    child: Child,
    commands: ChildStdin,
    messages: Receiver<Value>,
    profile: PathBuf,
    session: Option<String>,
    sent: u64,
    events: Vec<Value>,
}

impl Browser {
    /// Starts with an empty page.
    pub(crate) fn start() -> Self {
        let program = std::env::var_os("ASKLOOM_BROWSER")
            .expect("ASKLOOM_BROWSER names no browser; set it to what `cargo xtask browser` prints");
        let profile = profile();
        // The browser talks over descriptors 3 and 4, which only a shell can give it without unsafe code.
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null"])
            .arg(program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
            ])
            .arg("--remote-debugging-pipe")
            .arg(format!("--user-data-dir={}", profile.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let commands = child.stdin.take().unwrap();
        let messages = messages(BufReader::new(child.stdout.take().unwrap()));
        let mut browser =
            Self { child, commands, messages, profile, session: None, sent: 0, events: Vec::new() };
        browser.attach();
        browser
    }

    fn attach(&mut self) {
        let target = self.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attached = self.call(
            "Target.attachToTarget",
            json!({ "targetId": target["targetId"].clone(), "flatten": true }),
        );
        self.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log"] {
            self.call(&format!("{domain}.enable"), json!({}));
        }
    }

    /// Sends a command and waits for its answer; what else is said meanwhile is kept.
    pub(crate) fn call(&mut self, method: &str, parameters: Value) -> Value {
        let id = self.send(method, parameters);
        loop {
            let mut message = self.next(method);
            if message["id"] == json!(id) {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].take();
            }
            self.events.push(message);
        }
    }

    fn send(&mut self, method: &str, parameters: Value) -> u64 {
        self.sent += 1;
        let mut message = json!({ "id": self.sent, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.commands.write_all(&bytes).unwrap();
        self.sent
    }

    fn next(&self, wanted: &str) -> Value {
        self.messages.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("no answer to {wanted}: {error}"))
    }

    /// Shows a file in a window of this width, by the scheme `light` or `dark`.
    pub(crate) fn open(&mut self, file: &Path, width: u32, scheme: &str) {
        let size = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", size);
        self.media("screen", scheme);
        self.events.clear();
        self.call("Page.navigate", json!({ "url": format!("file://{}", file.display()) }));
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let event = self.next("the page to load");
            self.events.push(event);
        }
    }

    pub(crate) fn media(&mut self, media: &str, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call("Emulation.setEmulatedMedia", json!({ "media": media, "features": features }));
    }

    /// The value of an expression on the page.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let mut answer =
            self.call("Runtime.evaluate", json!({ "expression": expression, "returnByValue": true }));
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].take()
    }

    pub(crate) fn texts(&mut self, expression: &str) -> Vec<String> {
        let value = self.value(expression);
        let list = value.as_array().unwrap_or_else(|| panic!("{expression} is no list: {value}"));
        list.iter().map(|text| text.as_str().unwrap().to_owned()).collect()
    }

    /// A key as a person presses it.
    pub(crate) fn press(&mut self, key: &str, code: u32, text: &str) {
        for kind in ["keyDown", "keyUp"] {
            let mut event = json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code });
            if kind == "keyDown" && !text.is_empty() {
                event["text"] = json!(text);
            }
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Presses the button of a statement.
    pub(crate) fn pick(&mut self, statement: &str) {
        self.value(&format!("document.querySelector('.pick[data-statement={statement}]').click()"));
    }

    /// What the console has complained of since the page was opened.
    pub(crate) fn complaints(&mut self) -> Vec<String> {
        // An answer comes after everything that was said before it.
        self.value("0");
        let complains = |event: &&Value| match event["method"].as_str().unwrap_or_default() {
            "Runtime.exceptionThrown" | "Log.entryAdded" => true,
            "Runtime.consoleAPICalled" => event["params"]["type"] != "log",
            _ => false,
        };
        self.events.iter().filter(complains).map(|event| event["params"].to_string()).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Asked to close, it ends its own processes; killed, it may leave some to write into the folder.
        self.session = None;
        let bytes = format!("{}\0", json!({ "id": 0, "method": "Browser.close" }));
        if self.commands.write_all(bytes.as_bytes()).is_ok() {
            while self.messages.recv_timeout(PATIENCE).is_ok() {}
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}

fn profile() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("askloom-browser-{}-{number}", std::process::id()))
}

/// What the browser says, read beside the test so that waiting for it can have a bound.
fn messages(mut pipe: impl BufRead + Send + 'static) -> Receiver<Value> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        while pipe.read_until(0, &mut bytes).is_ok_and(|read| read > 0) {
            bytes.pop();
            let Ok(message) = serde_json::from_slice(&bytes) else { break };
            if sender.send(message).is_err() {
                break;
            }
            bytes.clear();
        }
    });
    receiver
}
