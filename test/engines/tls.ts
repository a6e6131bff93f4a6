/** Encrypted connections by the URL's `ssl-mode` and `ssl-ca`, to a server with the certificate that it made itself. */
import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TLSSocket } from 'node:tls'
import { type Connection, createConnection } from 'mysql2'
import { openStore } from '../../src/index'
import { refusal } from '../contract/suite/context'
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

/** The certificate that the server shows, as PEM. */
async function certificateOf(url: string): Promise<string> {
  const connection: Connection = createConnection({ uri: url, ssl: { rejectUnauthorized: false } })
  await new Promise<void>((resolve, reject) => connection.connect((error) => (error ? reject(error) : resolve())))
  const { raw } = (connection as unknown as { stream: TLSSocket }).stream.getPeerCertificate()
  connection.destroy()
  return `-----BEGIN CERTIFICATE-----\n${raw.toString('base64').replaceAll(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`
}

export function describeTls(engine: ServerEngine, urlOf: () => string): void {
  const mode = (parameters: string) => `${urlOf()}?${parameters}`

  it('encrypts when it is asked to', async () => {
    expect(await cipherOf(urlOf())).toBe('')
    expect(await cipherOf(mode('ssl-mode=REQUIRED'))).toMatch(/^TLS_|-/)
  })

  it.each(['VERIFY_CA', 'VERIFY_IDENTITY'])('trusts no certificate that nobody vouches for, by %s', async (name) => {
    const error = await refusal(openStore({ url: mode(`ssl-mode=${name}`) }))
    expect(error).toMatchObject({ code: 'database_refused', message: expect.stringMatching(/ssl-mode.*certificate/i) })
  })

  // MySQL's certificate is signed by an authority of its own, which only files in the server have.
  if (engine === 'mariadb') {
    it('trusts the one that it is given', async () => {
      const file = path.join(tmpdir(), `recentn-${process.pid}-ca.pem`)
      writeFileSync(file, await certificateOf(urlOf().replace(/^mariadb:/, 'mysql:')))
      try {
        expect(await cipherOf(mode(`ssl-mode=VERIFY_CA&ssl-ca=${encodeURIComponent(file)}`))).not.toBe('')
        expect(await cipherOf(mode(`ssl-ca=${encodeURIComponent(file)}`))).not.toBe('')
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
