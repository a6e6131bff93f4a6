/**
 * The program of a page as an app that takes orders, eight at a time: `node take-orders.mjs PROGRAM [ORDERS]`. Without orders
 * it starts the program's worker. Prints one line of JSON when it has begun an order, and one when the call has ended.
 */
import { writeSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

const [program, orders] = process.argv.slice(2)
const AT_A_TIME = 8

/** At once: what is printed must be there when the process is killed. */
const say = (line) => writeSync(1, `${JSON.stringify(line)}\n`)
console.log = (...printed) => say({ printed })

const { placeOrder, sendMails } = await import(pathToFileURL(program))

async function take(order) {
  say({ begun: order.id })
  try {
    await placeOrder(order)
    say({ done: order.id })
  } catch (error) {
    if (error.message !== 'Over the limit') throw error
    say({ undone: order.id })
  }
}

if (orders === undefined) sendMails()
else {
  const left = JSON.parse(orders)
  const lane = async () => {
    for (let order = left.shift(); order; order = left.shift()) await take(order)
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, lane))
  process.exit()
}
