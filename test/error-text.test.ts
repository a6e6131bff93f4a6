import { runInNewContext } from 'node:vm'
import { errorText } from '../src/shared/error-text'
import { UnrecoverableError } from '../src/shared/failures'
import { freePort } from './support/servers/program'

class NoSuchCustomer extends Error {}

const hostile = (): never => {
  throw new Error('not to be read')
}

function cyclic<T extends object>(value: T, key: string): T {
  return Object.assign(value, { [key]: value })
}

function endless(): Error {
  return Object.defineProperty(new Error('again'), 'cause', { get: endless })
}

describe('the text of an error', () => {
  it.each<[string, unknown]>([
    ['no', new Error('no')],
    ['TypeError: no', new TypeError('no')],
    ['UnrecoverableError: no', new UnrecoverableError('no')],
    ['Error', new Error()],
    ['NoSuchCustomer', new NoSuchCustomer()],
    ['NoSuchCustomer: 7', new NoSuchCustomer('7')],
    ['outer; cause: TypeError: inner; cause: innermost', causes(new Error('innermost'))],
    ['outer; cause: TypeError: inner; cause: {"code":7}', causes({ code: 7 })],
    ['AggregateError: all; errors: [TypeError: one, two]', new AggregateError([new TypeError('one'), 'two'], 'all')],
    ['TypeError: elsewhere', runInNewContext("new TypeError('elsewhere')")],
    ['{"code":7,"rows":"12"}', { code: 7, rows: 12n }],
    ['{"why":"RangeError: too large"}', { why: new RangeError('too large') }],
    ['Map {}', new Map()],
    ['a text', 'a text'],
    ['7', 7],
    ['undefined was thrown', undefined],
    ['null was thrown', null],
    ['"" was thrown', ''],
    ['Symbol(s)', Symbol('s')],
    ['{"code":"E"}', Object.assign(Object.create(null), { code: 'E' })],
    ['{"in":"a message"}', Object.assign(new Error(), { message: { in: 'a message' } })],
    ['cyclic', cyclic(new Error('cyclic'), 'cause')],
    ['{"self":"…"}', cyclic({}, 'self')],
    ['an error that has no text', { toJSON: hostile }],
    ['an error that has no text', Object.defineProperty(new Error(), 'message', { get: hostile })],
    ['an error that has no text', new Proxy({}, { get: hostile, getPrototypeOf: hostile, ownKeys: hostile })],
    ['undefined', { toJSON: () => undefined }],
  ])('%s', (text, error) => expect(errorText(error)).toBe(text))

  it('has an end, and at most 1,000 characters', () => {
    expect(errorText(endless()).split('cause: again')).toHaveLength(20)
    const many = new AggregateError(Array.from({ length: 100_000 }, () => new NoSuchCustomer('x'.repeat(100))))
    expect(errorText(many)).toHaveLength(1000)
    expect(errorText(`${'x'.repeat(999)}😀`)).toBe(`${'x'.repeat(999)}\uFFFD`)
  })

  it('says why a fetch has failed', async () => {
    const port = await freePort()
    const error = await fetch(`http://127.0.0.1:${port}/`).catch((failed: unknown) => failed)
    expect(errorText(error)).toBe(`TypeError: fetch failed; cause: connect ECONNREFUSED 127.0.0.1:${port}`)
  })
})

function causes(innermost: unknown): Error {
  return new Error('outer', { cause: new TypeError('inner', { cause: innermost }) })
}
