/** Shows the document of the server that this page is from. Nothing is asked of anyone else. */
{
  // The program has colours for the dark, behind a class.
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
  dark.addEventListener('change', follow)
  follow()

  // What is tried is shown once the answer has ended, which that of a stream does not.
  const isStream = (operation) =>
    operation?.get('responses').some((response) => response.hasIn(['content', 'text/event-stream']))
  const onlyWhatEnds = () => ({
    statePlugins: {
      spec: {
        wrapSelectors: {
          allowTryItOutFor: (original, system) => (state, path, method) =>
            original(state, path, method) && !isStream(system.specSelectors.specJson().getIn(['paths', path, method])),
        },
      },
    },
  })

  // The program's own resolver prepares the whole document again for each operation that is opened, which takes a second. The
  // references of this document are local, and none leads back to itself.
  const at = (spec, path) => path.reduce((value, name) => value?.[name], spec)
  const resolved = (value, spec) => {
    if (Array.isArray(value)) return value.map((each) => resolved(each, spec))
    if (typeof value !== 'object' || value === null) return value
    const { $ref: ref, ...own } = value
    const fields = Object.fromEntries(Object.entries(own).map(([name, field]) => [name, resolved(field, spec)]))
    if (ref === undefined) return fields
    // The name of a schema is read from its reference.
    return { ...resolved(at(spec, ref.slice(2).split('/')), spec), ...fields, $$ref: ref }
  }
  const quickResolver = () => ({
    fn: { resolveSubtree: async (spec, path) => ({ spec: resolved(at(spec, path), spec), errors: [] }) },
  })

  window.SwaggerUIBundle({
    url: 'openapi.json',
    dom_id: '#reference',
    plugins: [onlyWhatEnds, quickResolver],
    deepLinking: true,
    displayRequestDuration: true,
    syntaxHighlight: { theme: 'tomorrow-night' },
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    // The key is forgotten with the page.
    persistAuthorization: false,
    validatorUrl: null,
  })
}
