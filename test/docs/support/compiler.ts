/** The TypeScript blocks of pages, as modules for the compiler. */
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../support/processes'
import type { Block } from './pages'

/** The compiler's complaints about the blocks, by the lines of their pages. */
export async function compilerSays(
  folder: string,
  blocks: readonly Block[],
  declarations: readonly string[] = [],
): Promise<string> {
  const files = blocks.map(({ page, line, code }) => {
    const name = `${page.replaceAll('/', '__')}_${line}.mts`
    writeFileSync(join(folder, name), `${'\n'.repeat(line - 1)}${code}\nexport {}\n`)
    return name
  })
  const compilerOptions = { noEmit: true, module: 'nodenext', moduleResolution: 'nodenext', rootDir: ROOT }
  const project = {
    extends: join(ROOT, 'tsconfig.json'),
    compilerOptions,
    files: [...files, ...declarations],
    include: [],
    exclude: [],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(project))
  const output = await new Promise<string>((resolve) => {
    const args = [
      join(ROOT, 'node_modules/typescript/bin/tsc'),
      '-p',
      join(folder, 'tsconfig.json'),
      '--pretty',
      'false',
    ]
    execFile(process.execPath, args, { cwd: folder }, (_error, stdout, stderr) => resolve(stdout + stderr))
  })
  return output.replaceAll(/^(\S+?)_\d+\.mts\((\d+),\d+\)/gm, (_all, page: string, line: string) => {
    return `${page.replaceAll('__', '/')}:${line}`
  })
}
