"""Serves the packages of a folder as PyPI's and npm's registries and the releases of a repository do, on a free port of this machine, which it
prints.

    python3 index.py FOLDER [CERTIFICATE KEY]

With a certificate and its key, files of PEM, it speaks HTTPS. It answers what clients ask to install a package; nothing can be published.
"""

import base64
import hashlib
import http.server
import json
import pathlib
import ssl
import sys
import tarfile
import urllib.parse

FOLDER = pathlib.Path(sys.argv[1])


def packument(name, base):
    """What npm's registry tells of a package, or None."""
    for file in FOLDER.glob("*.tgz"):
        with tarfile.open(file) as archive:
            manifest = json.load(archive.extractfile("package/package.json"))
        if manifest["name"] == name:
            digest = hashlib.sha512(file.read_bytes()).digest()
            dist = {"tarball": f"{base}/files/{file.name}", "integrity": "sha512-" + base64.b64encode(digest).decode()}
            version = manifest["version"]
            return {"name": name, "dist-tags": {"latest": version}, "versions": {version: manifest | {"dist": dist}}}
    return None


def project(name):
    """What PyPI tells of a project, or None."""
    wheels = sorted(FOLDER.glob(name.replace("-", "_") + "-*.whl"))
    return "".join(f'<a href="/files/{wheel.name}">{wheel.name}</a>' for wheel in wheels) or None


class Registry(http.server.BaseHTTPRequestHandler):
    def do_HEAD(self):
        self.answer()

    def do_GET(self):
        self.wfile.write(self.answer())

    def answer(self):
        """Sends the headers, and returns the body."""
        path = urllib.parse.unquote(self.path)
        kind, body = "application/octet-stream", None
        if path.startswith(("/files/", "/releases/download/")):
            file = FOLDER / pathlib.PurePosixPath(path).name
            body = file.read_bytes() if file.is_file() else None
        elif path.startswith("/simple/"):
            page = project(path.removeprefix("/simple/").strip("/"))
            kind, body = "text/html", page and page.encode()
        else:
            answer = packument(path.removeprefix("/"), f"http://127.0.0.1:{self.server.server_port}")
            kind, body = "application/json", answer and json.dumps(answer).encode()
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        return body or b""

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, address):
        # A client that has what it wants closes the connection.
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, address)


server = Server(("127.0.0.1", 0), Registry)
if len(sys.argv) == 4:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
