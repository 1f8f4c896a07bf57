#!/usr/bin/env python3
"""Registries on loopback for the cases of real tools: npm, crates, Python packages, Go modules.

usage: registry.py DIRECTORY

Makes one small package of each kind in DIRECTORY, serves them, prints the port on one line, and ends
when standard input does. Each package leaves a mark where its own code ran, so that a case can tell
a step that only fetches from one that builds:

  npm    tool-dep 1.0.0   its install script writes ran.txt into the package
  cargo  tool-dep 1.0.0   its build script writes ran.txt into $OUT_DIR/../../../..
  pip    tool_dep 1.0.0   a wheel; and tool_source 1.0.0, an sdist whose setup.py has to run
  go     example.com/tooldep v1.0.0
"""

import base64
import gzip
import hashlib
import http.server
import io
import json
import os
import sys
import tarfile
import threading
import zipfile

TOP = sys.argv[1]


def write(path, data):
    path = os.path.join(TOP, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())


def tar(prefix, files):
    """A .tar.gz of {name: text}, the same bytes each time."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(prefix + "/" + name)
            info.size, info.mode, info.mtime = len(text.encode()), 0o644, 1000000000
            archive.addfile(info, io.BytesIO(text.encode()))
    return gzip.compress(raw.getvalue(), mtime=0)


def archive(files):
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as made:
        for name, text in files.items():
            made.writestr(zipfile.ZipInfo(name, (2001, 1, 1, 0, 0, 0)), text)
    return raw.getvalue()


def npm(base):
    package = {
        "name": "tool-dep",
        "version": "1.0.0",
        "main": "index.js",
        "scripts": {"install": "node install.js"},
    }
    data = tar("package", {
        "package.json": json.dumps(package),
        "index.js": "module.exports = 41;\n",
        "install.js": "require('fs').writeFileSync('ran.txt', 'install\\n');\n",
    })
    write("tool-dep/-/tool-dep-1.0.0.tgz", data)
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()
    version = dict(package, hasInstallScript=True, dist={
        "tarball": base + "/tool-dep/-/tool-dep-1.0.0.tgz",
        "integrity": integrity,
        "shasum": hashlib.sha1(data).hexdigest(),
    })
    return {
        "name": "tool-dep",
        "dist-tags": {"latest": "1.0.0"},
        "versions": {"1.0.0": version},
        "time": {"1.0.0": "2001-01-01T00:00:00.000Z"},
    }


def crate(base):
    data = tar("tool-dep-1.0.0", {
        "Cargo.toml": '[package]\nname = "tool-dep"\nversion = "1.0.0"\nedition = "2018"\n',
        "src/lib.rs": 'pub fn answer() -> u32 { include!(concat!(env!("OUT_DIR"), "/answer.rs")) }\n',
        "build.rs": "fn main() {\n"
                    '    let out = std::path::PathBuf::from(std::env::var("OUT_DIR").unwrap());\n'
                    '    std::fs::write(out.join("answer.rs"), "41").unwrap();\n'
                    '    std::fs::write(out.join("../../../../ran.txt"), "build script").unwrap();\n'
                    "}\n",
    })
    write("crates/tool-dep-1.0.0.crate", data)
    write("index/config.json", json.dumps({"dl": base + "/crates/{crate}-{version}.crate"}))
    write("index/to/ol/tool-dep", json.dumps({
        "name": "tool-dep", "vers": "1.0.0", "deps": [], "features": {}, "yanked": False,
        "cksum": hashlib.sha256(data).hexdigest(),
    }) + "\n")


def python():
    meta = "Metadata-Version: 2.1\nName: tool_dep\nVersion: 1.0.0\n"
    wheel = "Wheel-Version: 1.0\nGenerator: registry\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    info = "tool_dep-1.0.0.dist-info/"
    files = {"tool_dep.py": "answer = 41\n", info + "METADATA": meta, info + "WHEEL": wheel}
    files[info + "RECORD"] = "".join(name + ",,\n" for name in list(files) + [info + "RECORD"])
    source = tar("tool_source-1.0.0", {
        "PKG-INFO": meta.replace("tool_dep", "tool_source"),
        "setup.py": "from setuptools import setup\n"
                    "open('ran.txt', 'w').write('setup.py')\n"
                    "setup(name='tool_source', version='1.0.0', py_modules=['tool_source'])\n",
        "tool_source.py": "answer = 42\n",
    })
    for name, file, data in (("tool-dep", "tool_dep-1.0.0-py3-none-any.whl", archive(files)),
                             ("tool-source", "tool_source-1.0.0.tar.gz", source)):
        digest = hashlib.sha256(data).hexdigest()
        write("simple/%s/%s" % (name, file), data)
        write("simple/%s/index.html" % name,
              '<!DOCTYPE html><html><body><a href="%s#sha256=%s">%s</a></body></html>' % (file, digest, file))


def go():
    module, version = "example.com/tooldep", "v1.0.0"
    mod = "module example.com/tooldep\n\ngo 1.18\n"
    prefix = "%s@%s/" % (module, version)
    write("go/%s/@v/list" % module, version + "\n")
    write("go/%s/@v/%s.info" % (module, version), json.dumps({"Version": version, "Time": "2001-01-01T00:00:00Z"}))
    write("go/%s/@v/%s.mod" % (module, version), mod)
    write("go/%s/@v/%s.zip" % (module, version), archive({
        prefix + "go.mod": mod,
        prefix + "dep.go": "package tooldep\n\nfunc Answer() int { return 41 }\n",
    }))


class Handler(http.server.SimpleHTTPRequestHandler):
    packument = {}

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, directory=TOP, **named)

    def do_GET(self):
        if self.path.split("?")[0] != "/tool-dep":
            return super().do_GET()
        body = json.dumps(self.packument).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        return None

    def log_message(self, *arguments):
        pass


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    base = "http://127.0.0.1:%d" % server.server_address[1]
    Handler.packument = npm(base)
    crate(base)
    python()
    go()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.buffer.read()


main()
