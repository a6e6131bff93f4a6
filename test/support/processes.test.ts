import { join } from 'node:path'
import { ROOT, spawnScript, startServer } from './processes'

const ECHO = 'test/support/echo-script.ts'

describe('spawnScript', () => {
  it('runs TypeScript on what is built, talks JSON lines with it, and gives them all at its end', async () => {
    const script = spawnScript(ECHO, ['a b'], { WORD: 'hello' })
    const first = { args: ['a b'], word: 'hello', source: join(ROOT, 'dist/src/shared/errors.js') }
    expect(await script.next()).toEqual(first)
    script.send({ n: 1 })
    script.send({ n: 2 })
    expect(await script.next()).toEqual({ echo: { n: 1 } })
    expect(await script.next()).toEqual({ echo: { n: 2 } })
    script.send('end')
    expect(await script.finished).toEqual([first, { echo: { n: 1 } }, { echo: { n: 2 } }])
    await expect(script.next()).rejects.toThrow('no further line')
  })

  it('rejects with the output of a script that fails', async () => {
    const script = spawnScript(ECHO)
    script.send('fail')
    await expect(script.finished).rejects.toThrow(/ended with 1:[\s\S]*was told to fail/)
  })

  it('says which signal ended a script', async () => {
    const script = spawnScript(ECHO)
    await script.next()
    expect(await script.stop('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' })
  })

  it('runs as many as are started at the same time', async () => {
    const scripts = Array.from({ length: 4 }, (_, n) => spawnScript(ECHO, [String(n)]))
    const starts = await Promise.all(scripts.map((script) => script.next()))
    expect(starts).toEqual(scripts.map((_, n) => expect.objectContaining({ args: [String(n)] })))
    for (const script of scripts) script.send('end')
    await Promise.all(scripts.map((script) => script.finished))
  })
})

describe('startServer', () => {
  it('gives the address of a server that answers, and ends it in order', async () => {
    const server = await startServer()
    expect((await fetch(`${server.url}/livez`)).status).toBe(200)
    expect(server.output()).toContain(server.url)
    expect(await server.stop()).toEqual({ code: 0, signal: null })
    await expect(fetch(`${server.url}/livez`)).rejects.toThrow()
  })

  it('rejects with the output of a server that does not start', async () => {
    await expect(startServer({ PORT: 'many' })).rejects.toThrow(/ended with 1:[\s\S]*PORT/)
  })
})
