/** `recentn keys`: as a separate process, and its other commands in one. */
import { join } from 'node:path'
import { openStore } from '../../src/store/open'
import { command, run, temporaryFolder } from './support'

const folder = temporaryFolder()
afterAll(() => folder.remove())

let count = 0
const freshUrl = () => `sqlite:${join(folder.path, `${++count}.db`)}`
const keys = (url: string, ...args: string[]) => command(['keys', ...args], { DATABASE_URL: url })
const KEY = /^rk_([0-9a-f]{16})_[A-Za-z0-9_-]{43}\n$/

async function verify(url: string, key: string) {
  const store = await openStore({ url, migrate: false })
  try {
    return await store.keys.verify(key.trim())
  } finally {
    await store.close()
  }
}

describe('recentn keys', () => {
  it.each([
    [[], /create[\s\S]*list[\s\S]*revoke[\s\S]*Authorization: Bearer rk_/],
    [
      ['create'],
      /--label[\s\S]*--scope[\s\S]*--prefix[\s\S]*--json[\s\S]*admin \([\s\S]*not shown again[\s\S]*Examples:/,
    ],
    [['list'], /--database-url[\s\S]*--json/],
    [['revoke'], /<id>|recentn keys list[\s\S]*within 5 seconds/],
  ])('explains %j', async (args, text) => {
    const ran = await command(['keys', ...args, '--help'])
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    expect(ran.stdout).toMatch(text)
  })

  it.each([
    [['create', '--scope', 'read'], /required option '--label/],
    [['create', '--label', 'l'], /required option '--scope/],
    [['create', '--label', 'l', '--scope', 'root'], /must be one of append, read, queue, feed, admin/],
    [['create', '--label', '', '--scope', 'read'], /\/label: must not be empty/],
    [['create', '--label', 'l', '--scope', 'read', '--prefix', ''], /\/prefix: must not be empty/],
    [['revoke'], /missing required argument 'id'/],
    [['frobnicate'], /unknown command/],
  ])('refuses %j without a stack', async (args, said) => {
    const ran = await keys(freshUrl(), ...args)
    expect(ran).toMatchObject({ code: 2, stdout: '' })
    expect(ran.stderr).toMatch(said)
    expect(ran.stderr).not.toMatch(/\n +at /)
  })

  it('makes a key, alone on standard output, in a database that is new', async () => {
    const url = freshUrl()
    const args = ['create', '--label', 'shop', '--scope', 'read', '--scope', 'append', '--prefix', 'shop:']
    const ran = await run(['keys', ...args], { env: { DATABASE_URL: url } })
    expect(ran.code).toBe(0)
    expect(ran.stdout).toMatch(KEY)
    const id = KEY.exec(ran.stdout)?.[1]
    expect(ran.stderr).toMatch(
      new RegExp(`^The key ${id} \\(append, read, names that begin with "shop:"\\) is in .*\\.db`),
    )
    expect(ran.stderr).toMatch(/not shown again/)
    expect(ran.stderr).not.toContain(ran.stdout.trim())
    expect(await verify(url, ran.stdout)).toMatchObject({ id, scopes: ['append', 'read'], prefix: 'shop:' })
  })

  it('lists keys for people and for machines, and revokes', async () => {
    const url = freshUrl()
    expect((await keys(url, 'list')).stderr).toMatch(/There is no file .*recentn migrate/)
    const made = JSON.parse((await keys(url, 'create', '--label', 'one', '--scope', 'admin', '--json')).stdout)
    expect(`${made.key}\n`).toMatch(KEY)
    await keys(url, 'create', '--label', 'two', '--scope', 'queue', '--prefix', 'a')
    const revoked = await keys(url, 'revoke', made.id)
    expect(revoked).toEqual({ code: 0, stdout: `The key ${made.id} is revoked\n`, stderr: '' })
    expect(await verify(url, made.key)).toBeNull()
    const text = await keys(url, 'list')
    expect(text.code).toBe(0)
    const [first, facts, second, more] = text.stdout.split('\n')
    expect(first).toBe(`${made.id}  one`)
    expect(facts).toMatch(/^ {18}admin; all names; made 20\S+Z; REVOKED 20\S+Z, never used$/)
    expect(second).toMatch(/^[0-9a-f]{16} {2}two$/)
    expect(more).toMatch(/^ {18}queue; names that begin with "a"; made 20\S+Z; never used$/)
    const { keys: listed } = JSON.parse((await keys(url, 'list', '--json')).stdout)
    expect(listed).toMatchObject([
      { id: made.id, label: 'one', revokedAt: expect.any(String) },
      { label: 'two', scopes: ['queue'], prefix: 'a', revokedAt: null },
    ])
    expect(text.stdout + JSON.stringify(listed)).not.toContain('rk_')
    const json = await keys(url, 'revoke', listed[1].id, '--json')
    expect(JSON.parse(json.stdout)).toEqual({ id: listed[1].id, revoked: true })
  })

  it.each(['f'.repeat(16), 'nonsense', 'a\nb'])('says that there is no key %j to revoke', async (id) => {
    const url = freshUrl()
    await keys(url, 'create', '--label', 'l', '--scope', 'read')
    const ran = await keys(url, 'revoke', id)
    expect(ran).toMatchObject({ code: 3, stdout: '' })
    expect(ran.stderr).toMatch(/^recentn: there is no key with this id .*"recentn keys list"/)
  })

  it('says that there are none', async () => {
    const url = freshUrl()
    await command(['migrate'], { DATABASE_URL: url })
    expect((await keys(url, 'list')).stdout).toBe('There are no keys.\n')
    expect((await keys(url, 'list', '--json')).stdout).toBe('{"keys":[]}\n')
  })
})
