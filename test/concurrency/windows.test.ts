import { itemLineOf } from '../../src/repositories/recent/lines'
import { Windows } from '../../src/repositories/recent/windows'

it('windows are bounded in bytes, and those used last are kept', () => {
  const text = 'x'.repeat(1000)
  const windows = new Windows(1024 * 1024)
  const lines = [itemLineOf(`0\n1\ng\n${text}`)]
  const window = { incarnation: 1n, version: 1n, lines, isWhole: true, hasPayloads: true }
  for (let n = 0; n < 10_000; n++) {
    windows.learn(`g${n}`, window)
    windows.of('g0')
  }
  const kept = Array.from({ length: 10_000 }, (_, n) => windows.of(`g${n}`)).filter((one) => one !== null).length
  expect(kept).toBeGreaterThan(200)
  expect(kept * text.length * 2).toBeLessThan(1024 * 1024)
  expect(windows.of('g0')).not.toBeNull()
  windows.learn('large', { ...window, lines: [itemLineOf(`0\n1\ng\n${'x'.repeat(100_000)}`)] })
  expect(windows.of('large')).toBeNull()
})
