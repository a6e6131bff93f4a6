"""Works a queue of recentn over REST, with nothing but Python's standard library.

    python3 worker.py mail
"""
import json
import os
import sys
import time
import urllib.error
import urllib.request

SERVER = os.environ.get('RECENTN_URL', 'http://127.0.0.1:3000')
HEADERS = {'Content-Type': 'application/json'}
if 'RECENTN_KEY' in os.environ:
    HEADERS['Authorization'] = 'Bearer ' + os.environ['RECENTN_KEY']


def call(method, path, body=None):
    """One request; waits and asks again while the server is away or has too much to do."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(SERVER + path, data, HEADERS, method=method)
    while True:
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                text = answer.read()
                return json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            if error.code not in (429, 503):
                raise RuntimeError(error.read().decode()) from error
            time.sleep(int(error.headers.get('Retry-After', 1)))
        except urllib.error.URLError:
            time.sleep(1)


def work(queue, handle, idle_seconds=None):
    """Gives each message's body to `handle`; with `idle_seconds`, until none has come for so long."""
    while True:
        wait = 20 if idle_seconds is None else idle_seconds
        messages = call('POST', f'/v1/queues/{queue}/receive', {'waitSeconds': wait})['messages']
        if not messages and idle_seconds is not None:
            return
        for message in messages:
            handles = {'receiptHandles': [message['receiptHandle']]}
            try:
                handle(message['body'])
            except Exception as error:
                pause = min(600, 2 ** message['receiveCount'])
                call('POST', f'/v1/queues/{queue}/nack', {**handles, 'delaySeconds': pause, 'error': str(error)})
            else:
                call('POST', f'/v1/queues/{queue}/ack', handles)


if __name__ == '__main__':
    work(sys.argv[1], lambda body: print(f"mail to {body['to']}: {body['text']}", flush=True))
