/** Shows the document of the server that this page is from. Nothing is asked of anyone else. */
window.SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  displayRequestDuration: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  // The key is forgotten with the page.
  persistAuthorization: false,
  validatorUrl: null,
})
