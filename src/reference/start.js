/** Shows the document of the server that this page is from. Nothing is asked of anyone else. */
{
  // The program has colours for the dark, behind a class.
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
  dark.addEventListener('change', follow)
  follow()

  // What is tried is shown once the answer has ended, which that of a stream does not.
  const isStream = (operation) =>
    Object.values(operation?.responses ?? {}).some(({ content }) => Object.hasOwn(content ?? {}, 'text/event-stream'))
  const onlyWhatEnds = () => ({
    statePlugins: {
      spec: {
        wrapSelectors: {
          allowTryItOutFor: (original, system) => (state, path, method) =>
            original(state, path, method) &&
            !isStream(system.specSelectors.specJson().getIn(['paths', path, method])?.toJS()),
        },
      },
    },
  })

  window.SwaggerUIBundle({
    url: 'openapi.json',
    dom_id: '#reference',
    plugins: [onlyWhatEnds],
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
