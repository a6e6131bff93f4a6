/** The programs of the pages, as files beside the packages that they import. */
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { transformSync } from 'esbuild'
import { BLOCKS, type Block } from '../../docs/support/pages'
import { ROOT } from '../../support/processes'

const PACKAGES = join(ROOT, 'test', 'adapters', 'node_modules')
const FOLDER = join(PACKAGES, '.recentn', 'pages')

/** The whole program of each page that has one. */
export const PROGRAMS: readonly Block[] = BLOCKS.filter(({ mark }) => mark === 'program')

function link(target: string, path: string): void {
  if (!existsSync(path)) symlinkSync(target, path)
}

/** The imports of the programs beside packages: `recentn`, as it is built, and Prisma's generated client. */
export function programsFolder(): string {
  mkdirSync(join(FOLDER, 'generated'), { recursive: true })
  link(ROOT, join(PACKAGES, 'recentn'))
  link(join(PACKAGES, '.recentn', 'mysql'), join(FOLDER, 'generated', 'prisma'))
  return FOLDER
}

/** The path of the program as JavaScript. */
export function writeProgram({ page, code }: Block): string {
  const path = join(programsFolder(), `${page.replaceAll('/', '__')}.mjs`)
  writeFileSync(path, transformSync(code, { loader: 'ts', format: 'esm', target: 'node20' }).code)
  return path
}
