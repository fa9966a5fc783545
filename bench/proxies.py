"""Caching proxies at the edge of the client's site: XCache, nginx's slice cache, and `sapwood proxy`."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess

import lab
import measure
import servers

#: Options of `sapwood proxy` with which it fetches only what clients request.
NO_PREFETCHING = ("--prefetch", "off")


class Proxy(lab.Server):
    """A caching proxy for an origin server; a context manager. `urls` has the address of the origin's files for each
    protocol that it supports."""

    #: its name in the reports
    title = ""

    def __init__(self, origin, network):
        super().__init__("/", network.edge)
        self.origin = origin

    @property
    def held(self):
        """The folder of its cache."""
        return self.run / "held"

    def __enter__(self):
        try:
            return super().__enter__()
        except BaseException:
            shutil.rmtree(self.run, ignore_errors=True)
            raise

    def empty(self):
        """Restarts it with an empty cache."""
        self.kill(signal.SIGTERM)
        shutil.rmtree(self.held, ignore_errors=True)
        self.start_again()

    def start_again(self):
        """Restarts it with its cache."""
        self.prepare()
        self.start()

    def prepare(self):
        """Creates the folders that it expects."""
        self.held.mkdir(exist_ok=True)

    def url(self, name, protocol):
        return self.urls[protocol] + name

    def resident(self):
        """Memory in MB of its processes: resident now, and the sum of their peaks."""
        return measure.resident(self.process.pid)

    def size_held(self):
        """Bytes on the disk."""
        words = ["du", "-s", "--block-size=1", self.held]
        return int(subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()[0])


class XCache(Proxy):
    """xrootd as a proxy with a file cache, for an xrootd origin; default blocks and prefetching."""

    program, title, usual_port = "xrootd", "XCache", 31095

    def command(self):
        self.prepare()
        port, self.web_port = self.address.rpartition(":")[2], self.network.port(31096)
        self.urls = {
            "xrootd": f"root://{self.address}//",
            "http": f"http://{self.network.address}:{self.web_port}/",
        }
        self.log = self.complaints = self.run / "admin" / "log"
        config = self.run / "xcache.cfg"
        config.write_text(f"""
xrd.port {port}
xrd.network nodnr
xrd.protocol http:{self.web_port} libXrdHttp.so
all.export /
all.adminpath {self.run}/admin
all.pidpath {self.run}/admin
ofs.osslib libXrdPss.so
pss.origin {self.origin.address}
pss.cachelib default
oss.localroot {self.held}
pfc.ram 1g
pfc.blocksize 128k
pfc.prefetch 10
pfc.diskusage 0.95 0.98
""")
        words = [servers.find("xrootd"), "-c", config, "-l", self.log]
        return [*words, "-R", "xrootd"] if os.geteuid() == 0 else words

    def prepare(self):
        shutil.rmtree(self.run / "admin", ignore_errors=True)
        for folder in (self.held, self.run / "admin"):
            folder.mkdir(exist_ok=True)
            if os.geteuid() == 0:
                shutil.chown(folder, "xrootd")

    def listens(self):
        return self.log.exists() and " initialization completed" in self.log.read_text(errors="replace")


class NginxCache(Proxy):
    """nginx's proxy_cache with slices, for an HTTP server. Each slice of an answer is an open file until the whole
    answer is sent."""

    program, title, usual_port = "nginx", "nginx", 31082

    #: bytes per slice
    slices = "128k"

    def command(self):
        self.prepare()
        self.urls = {"http": f"http://{self.address}/"}
        self.complaints = self.run / "error.log"
        user = "user root;" if os.geteuid() == 0 else ""
        config = self.run / "nginx.conf"
        config.write_text(f"""
daemon off; pid {self.run}/nginx.pid; error_log {self.complaints}; worker_processes 1; {user}
worker_rlimit_nofile {resource.getrlimit(resource.RLIMIT_NOFILE)[1]};
events {{ worker_connections 1024; }}
http {{
  access_log off; keepalive_requests 100000; max_ranges 10000;
  client_body_temp_path {self.run}/t1; proxy_temp_path {self.run}/t2;
  fastcgi_temp_path {self.run}/t3; uwsgi_temp_path {self.run}/t4; scgi_temp_path {self.run}/t5;
  proxy_cache_path {self.held} levels=1:2 keys_zone=k:10m max_size=4g;
  upstream origin {{ server {self.origin.address}; keepalive 16; }}
  server {{
    listen {self.address};
    location / {{
      slice {self.slices}; proxy_cache k; proxy_cache_key $uri$slice_range; proxy_set_header Range $slice_range;
      proxy_cache_valid 200 206 1h; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_pass http://origin;
    }}
  }}
}}
""")
        return [servers.find("nginx"), "-e", self.complaints, "-c", config]

    def prepare(self):
        super().prepare()
        # it remains if the program was killed
        (self.run / "nginx.pid").unlink(missing_ok=True)

    def listens(self):
        return (self.run / "nginx.pid").exists()


class SapwoodProxy(lab.Announced, Proxy):
    """`sapwood proxy` for any server."""

    title, usual_port = "sapwood proxy", 31084

    def __init__(self, origin, network, program, options=()):
        super().__init__(origin, network)
        self.program, self.options = program, options
        # several may run at once
        self.usual_port += 10 * len(options)

    def command(self):
        self.prepare()
        listen = [
            "--listen-http",
            self.address,
            "--listen-root",
            f"{self.network.address}:{self.network.port(self.usual_port + 1)}",
        ]
        folder = ["--cache-dir", self.held]
        return [self.program, "proxy", "--origin", self.origin.url(""), *listen, *folder, "--json", *self.options]

    def prepare(self):
        """It creates its folder itself."""
