/** A process of this folder that does its part until it is ordered to end, and reports the result by messages. */
import { fork } from 'node:child_process'
import { join } from 'node:path'
import { must, until } from '../../scripts/docker-tools.mjs'
import { ROOT } from '../../scripts/lib.mjs'

export class ChildProcess {
  constructor(file, task) {
    this.name = task.name
    this.messages = []
    this.child = fork(join(ROOT, 'test', 'cluster', file), [JSON.stringify(task)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { ...process.env, NODE_NO_WARNINGS: '1' },
    })
    this.child.on('message', (message) => this.messages.push(message))
    this.gone = false
    this.child.on('exit', () => {
      this.gone = true
    })
  }

  hear(type, seconds) {
    return until(`${this.name} says ${type}`, seconds, () => {
      const found = this.messages.find((message) => message.type === type)
      must(found || !this.gone, `${this.name} has ended before it said ${type}`)
      return found
    })
  }

  tell(what) {
    this.child.send(what)
  }

  end() {
    this.child.kill('SIGKILL')
  }
}
