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
  ['every fault', { baseUrl: 1, retries: -1, timeoutSeconds: Number.NaN }, ['/baseUrl', '/retries', '/timeoutSeconds']],
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

describe('the value of a key or header is in no error', () => {
  const secret = 'rk_0123456789abcdef_Geheim\nGeheim'
  const made = (options: object) => createClient({ baseUrl: 'http://127.0.0.1:1', retries: 0, ...options })

  test.each([
    ['of a key', () => made({ key: secret }).access()],
    ['of a header', () => made({ headers: { 'X-Key': secret } }).access()],
    ['that a function gives', () => made({ key: () => secret }).access()],
  ])('%s', async (_, call) => {
    const error = await call().then(
      () => null,
      (thrown) => thrown,
    )
    expect(error).toMatchObject({ code: 'invalid_input' })
    expect(`${error.message} ${error.cause}`).not.toContain('Geheim')
  })

  test('which may end with a line break, as a file does', async () => {
    await expect(made({ key: 'rk_0123456789abcdef_x\n' }).access()).rejects.toMatchObject({ code: 'unreachable' })
  })
})
