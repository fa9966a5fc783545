"""AWS Signature Version 4 once more, to upload test files and to judge what Sapwood signs."""

from __future__ import annotations

import hashlib
import hmac
import http.client
from datetime import datetime, timezone
from urllib.parse import quote


def _hmac(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def authorization(method, target, headers, keys, region, time, names, digest):
    """The `Authorization` header of a request. `names`: the signed headers, in order; `time`: 20130524T000000Z."""
    access, secret = keys
    path, _, query = target.partition("?")
    lines = [method, path, query, *(f"{name}:{headers[name].strip()}" for name in names), "", ";".join(names), digest]
    scope = f"{time[:8]}/{region}/s3/aws4_request"
    canonical = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    key = ("AWS4" + secret).encode()
    for part in scope.split("/"):
        key = _hmac(key, part)
    signature = _hmac(key, f"AWS4-HMAC-SHA256\n{time}\n{scope}\n{canonical}").hex()
    return f"AWS4-HMAC-SHA256 Credential={access}/{scope},SignedHeaders={';'.join(names)},Signature={signature}"


def is_signed(asked, keys, region, method="GET"):
    """Whether a request to a scripted server has the right signature for these keys and this region."""
    told = asked.headers.get("authorization", "")
    if "SignedHeaders=" not in told:
        return False
    names = told.split("SignedHeaders=")[1].split(",")[0].split(";")
    digest, time = asked.headers["x-amz-content-sha256"], asked.headers["x-amz-date"]
    assert {"host", "x-amz-content-sha256", "x-amz-date"} <= set(names)
    return told == authorization(method, asked.path, asked.headers, keys, region, time, names, digest)


def put(port, bucket, key, body, keys, region="us-east-1"):
    """Uploads an object; with an empty key makes the bucket."""
    host, target = f"127.0.0.1:{port}", quote(f"/{bucket}/{key}".rstrip("/"), safe="/-._~")
    digest = hashlib.sha256(body).hexdigest()
    time = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    headers = {"host": host, "x-amz-content-sha256": digest, "x-amz-date": time}
    headers["authorization"] = authorization("PUT", target, headers, keys, region, time, sorted(headers), digest)
    connection = http.client.HTTPConnection(host, timeout=60)
    connection.request("PUT", target, body, headers)
    response = connection.getresponse()
    text = response.read()
    connection.close()
    if response.status != 200:
        raise RuntimeError(f"PUT {target}: {response.status} {text[:300]!r}")
    return response.headers.get("etag")
