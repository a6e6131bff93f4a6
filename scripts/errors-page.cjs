/** `node scripts/errors-page.cjs`: writes docs/errors.md from the table that is built in dist. A test compares. */
const { writeFileSync } = require('node:fs')
const { join } = require('node:path')

const root = join(__dirname, '..')
const { errorsMarkdown } = require(join(root, 'dist', 'src', 'http', 'error-reference.js'))
writeFileSync(join(root, 'docs', 'errors.md'), errorsMarkdown())
