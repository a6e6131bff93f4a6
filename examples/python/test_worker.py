"""python3 -m unittest: needs a server, `npx recentn serve`, whose address is in RECENTN_URL."""
import unittest
import uuid

from worker import call, work


class WorkTest(unittest.TestCase):
    def setUp(self):
        self.queue = f'python-{uuid.uuid4()}'
        call('PUT', f'/v1/queues/{self.queue}')

    def tearDown(self):
        call('DELETE', f'/v1/queues/{self.queue}')

    def send(self, body):
        return call('POST', f'/v1/queues/{self.queue}/messages', {'body': body})

    def counts(self):
        return call('GET', f'/v1/queues/{self.queue}')['counts']

    def test_handles_what_is_sent(self):
        for name in ('ann', 'bob'):
            self.send({'to': name})
        handled = []
        work(self.queue, lambda body: handled.append(body['to']), idle_seconds=0)
        self.assertEqual(handled, ['ann', 'bob'])

    def test_what_fails_is_tried_again_with_the_error(self):
        sent = self.send({'to': 'ann'})

        def fails(_body):
            raise ValueError('no such address')

        work(self.queue, fails, idle_seconds=0)
        message = call('GET', f"/v1/queues/{self.queue}/messages/{sent['id']}")
        self.assertEqual((message['state'], message['lastError']), ('delayed', 'no such address'))

    def test_an_error_says_what_is_wrong(self):
        with self.assertRaisesRegex(RuntimeError, 'queue_not_found'):
            work('no-such-queue', print, idle_seconds=0)


if __name__ == '__main__':
    unittest.main()
