/** Encrypted connections by the URL's `ssl-mode` and `ssl-ca`, to a server with the certificate that it made itself, or with none. */
import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Connection, RowDataPacket } from 'mysql2/promise'
import { openStore } from '../../src/index'
import { refusal } from '../contract/context'
import { lacks } from '../support/servers/lacks'
import type { ServerEngine } from '../support/servers/server'

async function cipherOf(url: string): Promise<string> {
  const store = await openStore({ url })
  try {
    const [row] = await store.dataSource.query("SHOW SESSION STATUS LIKE 'Ssl_cipher'")
    await store.groups.append('encrypted')
    return row.Value
  } finally {
    await store.close()
  }
}

/** The authority that MySQL has made for itself at its first start. MariaDB has none, and signs its certificate by itself. */
async function authorityOf(admin: Connection): Promise<string> {
  const [rows] = await admin.query<RowDataPacket[]>(
    'SELECT CAST(LOAD_FILE(CONCAT(@@datadir, @@ssl_ca)) AS CHAR) AS pem',
  )
  return rows[0]?.pem
}

export function describeTls(engine: ServerEngine, urlOf: () => string, adminOf: () => Connection): void {
  const mode = (parameters: string) => `${urlOf()}?${parameters}`

  /** A server without a certificate encrypts nothing, and whoever asks for it is refused. */
  const isPlain = async () => {
    const [[row]] = await adminOf().query<RowDataPacket[]>('SELECT VERSION() AS version')
    return lacks(row?.version, 'its own certificate')
  }

  it('encrypts when it is asked to', async () => {
    expect(await cipherOf(urlOf())).toBe('')
    if (await isPlain()) {
      const error = await refusal(openStore({ url: mode('ssl-mode=REQUIRED') }))
      expect(error).toMatchObject({ code: 'database_refused', message: expect.stringMatching(/ssl-mode.*not support/) })
      return
    }
    expect(await cipherOf(mode('ssl-mode=REQUIRED'))).toMatch(/^TLS_|-/)
  })

  it.each(['VERIFY_CA', 'VERIFY_IDENTITY'])(
    'trusts no certificate without an authority that it knows, by %s',
    async (name) => {
      const error = await refusal(openStore({ url: mode(`ssl-mode=${name}`) }))
      const reason = (await isPlain()) ? /ssl-mode.*not support/ : /ssl-mode.*certificate/i
      expect(error).toMatchObject({ code: 'database_refused', message: expect.stringMatching(reason) })
    },
  )

  if (engine === 'mysql') {
    it('trusts one of the authority that it is given, and for the name that it is of', async () => {
      const file = path.join(tmpdir(), `recentn-${process.pid}-ca.pem`)
      const given = `ssl-ca=${encodeURIComponent(file)}`
      writeFileSync(file, await authorityOf(adminOf()))
      try {
        expect(await cipherOf(mode(`ssl-mode=VERIFY_CA&${given}`))).not.toBe('')
        expect(await cipherOf(mode(given))).not.toBe('')
        // MySQL calls itself MySQL_Server_…_Auto_Generated there.
        const error = await refusal(openStore({ url: mode(`ssl-mode=VERIFY_IDENTITY&${given}`) }))
        expect(error).toMatchObject({ code: 'database_refused', message: expect.stringContaining('ssl-mode') })
      } finally {
        rmSync(file)
      }
    })
  }

  it.each([
    ['ssl-mode=SOMETIMES', 'one of DISABLED'],
    ['ssl-mode=REQUIRED&ssl-mode=DISABLED', 'once'],
    ['ssl=1', 'no parameters but'],
    ['ssl-ca=nowhere.pem', 'nowhere.pem'],
    ['ssl-mode=REQUIRED&ssl-ca=nowhere.pem', 'VERIFY_CA'],
  ])('refuses %s', async (parameters, said) => {
    const error = await refusal(openStore({ url: mode(parameters) }))
    expect(error).toMatchObject({ code: 'invalid_input', message: expect.stringContaining(said) })
  })
}
