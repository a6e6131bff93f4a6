import { createClient, RecentnError } from '../../src/client'

test.each<[string, object, string[]]>([
  ['a query', { baseUrl: 'http://localhost?a' }, ['/baseUrl']],
  ['no URL', { baseUrl: 'nope' }, ['/baseUrl']],
  ['nothing', { baseUrl: '' }, ['/baseUrl']],
  ['another protocol', { baseUrl: 'ftp://localhost' }, ['/baseUrl']],
  ['a password', { baseUrl: 'http://user:password@localhost' }, ['/baseUrl']],
  ['a path, in Node', { baseUrl: '/activity' }, ['/baseUrl']],
  ['no base', {}, ['/baseUrl']],
  ['options that there are not', { baseUrl: 'http://localhost', retrys: 2, Key: 'k' }, ['/retrys', '/Key']],
  ['every fault', { baseUrl: 1, retries: -1, timeoutMs: Number.NaN }, ['/baseUrl', '/retries', '/timeoutMs']],
  ['other types', { baseUrl: 'http://localhost', key: 1, fetch: {}, headers: 'h' }, ['/key', '/fetch', '/headers']],
])('a client with %s is refused at once, with every fault', (_, options, pointers) => {
  let thrown: unknown
  try {
    createClient(options as Parameters<typeof createClient>[0])
  } catch (error) {
    thrown = error
  }
  expect(thrown).toBeInstanceOf(RecentnError)
  expect(thrown).toMatchObject({ code: 'invalid_input', faults: pointers.map((pointer) => ({ pointer })) })
})
