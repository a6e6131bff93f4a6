import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { isLoopback, readConfig } from '../../src/http/process/config'
import { RecentnError } from '../../src/shared/errors'

function faultsOf(environment: Record<string, string>) {
  try {
    readConfig(environment)
  } catch (error) {
    if (error instanceof RecentnError) return error.faults
    throw error
  }
  return []
}

describe('the configuration', () => {
  test('has defaults, for empty variables too', () => {
    const defaults = {
      port: 3000,
      host: '127.0.0.1',
      databaseUrl: 'sqlite:./data/recentn.db',
      tablePrefix: undefined,
      allowAnonymous: false,
      corsOrigins: [],
      defaultCapacity: undefined,
      history: true,
      shutdownSeconds: 10,
      bodyLimitBytes: 1048576,
      maxPerPrefix: { queues: 1000, schedules: 1000, policies: 1000, feeds: 1000 },
      poolSize: undefined,
      logFormat: 'text',
      logLevel: 'info',
      accessLog: false,
      drainSeconds: 0,
    }
    expect(readConfig({})).toEqual(defaults)
    expect(readConfig({ PORT: '', HOST: '', DATABASE_URL: '', RECENTN_ALLOW_ANONYMOUS: '' })).toEqual(defaults)
    expect(Object.isFrozen(readConfig({}))).toBe(true)
  })

  test('is read', () => {
    const environment = {
      PORT: '0',
      HOST: '0.0.0.0',
      DATABASE_URL: 'mysql://u:p@db:3306/activity',
      RECENTN_TABLE_PREFIX: 'shop_',
      RECENTN_ALLOW_ANONYMOUS: '1',
      RECENTN_CORS_ORIGIN: 'https://app.example.org, http://localhost:5173',
      RECENTN_DEFAULT_CAPACITY: '25',
      RECENTN_HISTORY: '0',
      RECENTN_SHUTDOWN_SECONDS: '3',
      RECENTN_BODY_LIMIT_BYTES: '2048',
      RECENTN_MAX_QUEUES_PER_PREFIX: '1',
      RECENTN_MAX_SCHEDULES_PER_PREFIX: '2',
      RECENTN_MAX_POLICIES_PER_PREFIX: '3',
      RECENTN_MAX_FEEDS_PER_PREFIX: '1000000',
      RECENTN_POOL_SIZE: '4',
      RECENTN_LOG_FORMAT: 'json',
      RECENTN_LOG_LEVEL: 'debug',
      RECENTN_ACCESS_LOG: '1',
      RECENTN_DRAIN_SECONDS: '15',
    }
    expect(readConfig(environment)).toEqual({
      port: 0,
      host: '0.0.0.0',
      databaseUrl: 'mysql://u:p@db:3306/activity',
      tablePrefix: 'shop_',
      allowAnonymous: true,
      corsOrigins: ['https://app.example.org', 'http://localhost:5173'],
      defaultCapacity: 25,
      history: false,
      shutdownSeconds: 3,
      bodyLimitBytes: 2048,
      maxPerPrefix: { queues: 1, schedules: 2, policies: 3, feeds: 1_000_000 },
      poolSize: 4,
      logFormat: 'json',
      logLevel: 'debug',
      accessLog: true,
      drainSeconds: 15,
    })
  })

  test('names every fault at once', () => {
    const faults = faultsOf({
      PORT: '65536',
      HOST: '192.168.1.5',
      DATABASE_URL: 'postgres://localhost/x',
      RECENTN_TABLE_PREFIX: 'Shop-',
      RECENTN_ALLOW_ANONYMOUS: 'yes',
      RECENTN_CORS_ORIGIN: '*',
      RECENTN_DEFAULT_CAPACITY: '0',
      RECENTN_SHUTDOWN_SECONDS: '-1',
      RECENTN_BODY_LIMIT_BYTES: '1e6',
      RECENTN_MAX_QUEUES_PER_PREFIX: '0',
      RECENTN_MAX_FEEDS_PER_PREFIX: '1000001',
      RECENTN_POOL_SIZE: '1.5',
      RECENTN_LOG_FORMAT: 'JSON',
      RECENTN_LOG_LEVEL: 'verbose',
      RECENTN_ACCESS_LOG: 'on',
      RECENTN_DRAIN_SECONDS: '3601',
    })
    expect(faults.map((fault) => fault.parameter).sort()).toEqual([
      'DATABASE_URL',
      'PORT',
      'RECENTN_ACCESS_LOG',
      'RECENTN_ALLOW_ANONYMOUS',
      'RECENTN_BODY_LIMIT_BYTES',
      'RECENTN_CORS_ORIGIN',
      'RECENTN_DEFAULT_CAPACITY',
      'RECENTN_DRAIN_SECONDS',
      'RECENTN_LOG_FORMAT',
      'RECENTN_LOG_LEVEL',
      'RECENTN_MAX_FEEDS_PER_PREFIX',
      'RECENTN_MAX_QUEUES_PER_PREFIX',
      'RECENTN_POOL_SIZE',
      'RECENTN_SHUTDOWN_SECONDS',
      'RECENTN_TABLE_PREFIX',
    ])
  })

  test.each([
    ['mysql://u:p@db/activity', 'must not be given beside that of the URL'],
    ['sqlite:./x.db', 'is for mysql:// and mariadb:// URLs'],
  ])('takes no command for a password with %s', (DATABASE_URL, detail) => {
    const faults = faultsOf({ DATABASE_URL, RECENTN_PASSWORD_COMMAND: 'cat secret' })
    expect(faults).toEqual([{ parameter: 'RECENTN_PASSWORD_COMMAND', detail }])
  })

  test('has the password of what the command prints, which is run again each time, once for those that ask at once', async () => {
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'recentn-')), 'runs')
    const command = `echo x >> '${file}'; wc -l < '${file}'`
    const { password } = readConfig({ DATABASE_URL: 'mysql://u@db/activity', RECENTN_PASSWORD_COMMAND: command })
    const both = await Promise.all([password?.(), password?.()])
    expect([...both, await password?.()].map((one) => one?.trim())).toEqual(['1', '1', '2'])
    expect(await password?.()).toMatch(/3$/)
  })

  test.each([
    ['echo secret; echo no role >&2; exit 3', 'RECENTN_PASSWORD_COMMAND: no role'],
    ['echo secret; exit 3', 'RECENTN_PASSWORD_COMMAND: exit code 3'],
  ])('says why the command failed, and nothing of what it printed: %s', async (command, said) => {
    const { password } = readConfig({ DATABASE_URL: 'mysql://u@db/activity', RECENTN_PASSWORD_COMMAND: command })
    const error = await Promise.resolve(password?.()).catch((cause: Error) => cause.message)
    expect(error).toBe(said)
  })

  test.each(['127.0.0.1', '127.8.9.10', 'localhost', 'LOCALHOST', '::1', '[::1]'])('knows %s as loopback', (HOST) => {
    expect(isLoopback(readConfig({ HOST }).host)).toBe(true)
  })

  test.each(['0.0.0.0', '::', '192.168.1.5', 'example.org', '127.0.0.1.example.org'])(
    'knows %s as an address that others reach',
    (HOST) => {
      expect(isLoopback(readConfig({ HOST }).host)).toBe(false)
    },
  )

  test.each([
    '*',
    'null',
    'app.example.org',
    'https://app.example.org/',
    'https://app.example.org/x',
    'HTTPS://app.example.org',
    'file:///',
    'https://a.example.org https://b.example.org',
  ])('takes no %j for an origin', (RECENTN_CORS_ORIGIN) => {
    expect(faultsOf({ RECENTN_CORS_ORIGIN }).map(({ parameter }) => parameter)).toEqual(['RECENTN_CORS_ORIGIN'])
  })

  test('never shows the password of a database', () => {
    for (const DATABASE_URL of ['mysq://user:secret@host/db', 'mysql://user:secret@host', 'mysql://u:secret@h/d?x=1']) {
      const faults = faultsOf({ DATABASE_URL, PORT: 'x' })
      expect(faults.map(({ parameter }) => parameter)).toEqual(['PORT', 'DATABASE_URL'])
      expect(JSON.stringify(faults)).not.toContain('secret')
    }
  })
})
