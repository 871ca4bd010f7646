"""Runs texts for a POSIX shell whose commands are those of the AWS CLI, in one process: starting it takes a second.

The shell takes the text apart, so that quoting is its own; the CLI's own code does the rest. Version 1 of the CLI, the one
that the registry has, takes B as it stands. What is printed is for version 2, which takes base64, so this does as well.
"""

import base64, contextlib, io, json, subprocess, sys

from awscli.clidriver import create_clidriver

MARK = sys.argv[1]
BEFORE = sys.argv[2:4]
# Each argument ends with NUL, each command with one more.
TAKE_APART = "aws() { printf '%s\\0' \"$@\"; printf '\\0'; }\n"


def decoded(value):
    if isinstance(value, list):
        return [decoded(item) for item in value]
    if isinstance(value, dict):
        if list(value) == ["B"] and isinstance(value["B"], str):
            return {"B": base64.b64decode(value["B"], validate=True)}
        return {name: decoded(item) for name, item in value.items()}
    return value


# A client takes longer to make than its requests take.
clients = {}
# A driver remembers something of every command, and gets slower by that.
MOST = 100


class Driver:
    def __init__(self):
        self.done = 0
        self.made = create_clidriver()
        create = self.made.session.create_client

        def client(name, *args, **settings):
            if name not in clients:
                clients[name] = create(name, *args, **settings)
            return clients[name]

        self.made.session.create_client = client
        self.made.session.register("provide-client-params.dynamodb", lambda params, **_: decoded(params))


driver = Driver()


def commands(text):
    shell = subprocess.run(["sh", "-eu"], input=TAKE_APART + text, capture_output=True, text=True)
    if shell.returncode or shell.stderr:
        raise ValueError(shell.stderr or "the shell failed")
    return [command.split("\0") for command in shell.stdout.split("\0\0") if command]


def run(command):
    global driver
    if driver.done == MOST:
        driver = Driver()
    driver.done += 1
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = driver.made.main(BEFORE + command + ["--output", "json"])
    if code:
        return {"error": err.getvalue(), "command": command}
    return {"answer": json.loads(out.getvalue() or "{}")}


def lint(template):
    from cfnlint.api import lint as matches

    return [{"error": str(match)} for match in matches(template, regions=["us-east-1"])]


# One command, as the CLI itself does it.
if MARK == "once":
    said = run(sys.argv[4:])
    print(said.get("error") or json.dumps(said["answer"]))
    sys.exit("error" in said)

lines = []
for line in sys.stdin:
    if line.rstrip("\n") != MARK:
        lines.append(line)
        continue
    text, lines = "".join(lines), []
    try:
        said = lint(text) if text.startswith("{") else [run(command) for command in commands(text)]
    except Exception as error:
        said = [{"error": repr(error)}]
    for one in said:
        print(json.dumps(one))
    print(MARK, flush=True)
