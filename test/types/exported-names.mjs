// node exported-names.mjs PROJECT FILE…: for each file a line with the names that it exports, types included.
import { API } from 'typescript/unstable/sync'

const [project, ...files] = process.argv.slice(2)
const api = new API()
const { program, checker } = api.updateSnapshot({ openProjects: [project] }).getProject(project)
for (const file of files) {
  const exported = checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file)))
  console.log(JSON.stringify(exported.map(({ name }) => name)))
}
api.close()
