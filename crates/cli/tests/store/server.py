"""moto's server of S3 for a test, which says on a line of standard input what happens to it.

Prints its address first, and a line when a command is done:

    bucket NAME                 a new bucket
    put BUCKET PREFIX FOLDER    the files below a folder, or a file
    deny BUCKET                 nobody may read objects of the bucket
    requests                    prints how many requests it has answered
"""

import json
import logging
import os
import sys

import boto3
from moto.server import ThreadedMotoServer

answered = 0


class Counter(logging.Handler):
    """Counts the lines that the server writes about requests."""

    def emit(self, record):
        global answered
        answered += '"' in record.getMessage()


log = logging.getLogger("werkzeug")
log.setLevel(logging.INFO)
log.propagate = False
log.addHandler(Counter())

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
address = "http://{}:{}".format(*server.get_host_and_port())
print(address, flush=True)
client = boto3.client(
    "s3",
    endpoint_url=address,
    aws_access_key_id="test",
    aws_secret_access_key="test",
    region_name="us-east-1",
)


def put(bucket, prefix, place):
    if os.path.isfile(place):
        client.upload_file(place, bucket, prefix)
        return
    for folder, _, names in os.walk(place):
        for name in names:
            path = os.path.join(folder, name)
            inside = os.path.relpath(path, place).replace(os.sep, "/")
            client.upload_file(path, bucket, f"{prefix}/{inside}")


for line in sys.stdin:
    command, *words = line.rstrip("\n").split("\t")
    reply = "done"
    if command == "bucket":
        client.create_bucket(Bucket=words[0])
    elif command == "put":
        put(*words)
    elif command == "deny":
        statement = {
            "Effect": "Deny",
            "Principal": "*",
            "Action": ["s3:GetObject"],
            "Resource": f"arn:aws:s3:::{words[0]}/*",
        }
        policy = {"Version": "2012-10-17", "Statement": [statement]}
        client.put_bucket_policy(Bucket=words[0], Policy=json.dumps(policy))
    elif command == "requests":
        reply = str(answered)
    print(reply, flush=True)
server.stop()
