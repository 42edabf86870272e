import base64
import hashlib
import pathlib
import sys
import zipfile

content, out = map(pathlib.Path, sys.argv[1:])
(information,) = content.glob("*.dist-info")
(tag,) = [
    line.removeprefix("Tag: ")
    for line in (information / "WHEEL").read_text().splitlines()
    if line.startswith("Tag: ")
]
record = information / "RECORD"
lines = []
with zipfile.ZipFile(out / f"{information.stem}-{tag}.whl", "w") as wheel:
    for path in sorted(content.rglob("*")):
        if path.is_file() and path != record:
            name = path.relative_to(content).as_posix()
            digest = base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest())
            lines.append(f"{name},sha256={digest.rstrip(b'=').decode()},{path.stat().st_size}\n")
            wheel.write(path, name)
    name = record.relative_to(content).as_posix()
    wheel.writestr(name, "".join([*lines, f"{name},,\n"]))
