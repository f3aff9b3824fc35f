// The calls of the server, from its own OpenAPI document.
import { escapeHtml } from './render-page.mjs';

export function apiReference(document) {
  const sections = [];
  const parts = [
    `<h1 id="api">HTTP API</h1>\n<p>Made from <code>GET /api/openapi.json</code> of version ${escapeHtml(document.info.version)}. Errors are <code>application/problem+json</code> with a stable <code>code</code>.</p>\n`,
  ];
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, call] of Object.entries(methods)) {
      if (typeof call !== 'object' || call.summary === undefined) continue;
      const anchor = `${method}-${path}`.replace(/[^\w]+/g, '-').replace(/-$/, '');
      const name = `${method.toUpperCase()} ${path}`;
      sections.push({ anchor, heading: name, text: call.summary });
      parts.push(
        `<h2 id="${anchor}"><code>${escapeHtml(name)}</code></h2>\n<p>${escapeHtml(call.summary)}</p>\n${callDetails(call)}`,
      );
    }
  }
  const schemas = Object.entries(document.components?.schemas ?? {});
  parts.push('<h1 id="schemas">Shapes</h1>\n');
  for (const [name, schema] of schemas) {
    sections.push({ anchor: `schema-${name}`, heading: name, text: Object.keys(schema.properties ?? {}).join(' ') });
    parts.push(
      `<h2 id="schema-${name}">${escapeHtml(name)}</h2>\n<details><summary>JSON Schema</summary><pre tabindex="0"><code>${escapeHtml(JSON.stringify(schema, null, 2))}</code></pre></details>\n`,
    );
  }
  return { title: 'HTTP API', html: parts.join(''), sections };
}

function callDetails({ parameters = [], requestBody, responses = {} }) {
  const rows = [
    ...parameters.map((p) => [`${p.in} <code>${escapeHtml(p.name ?? '')}</code>`, shape(p.schema)]),
    ...(requestBody === undefined ? [] : [['body', shape(firstSchema(requestBody.content))]]),
    ...Object.entries(responses).map(([status, response]) => [
      `<code>${status}</code> ${escapeHtml(response.description ?? '')}`,
      shape(firstSchema(response.content)),
    ]),
  ];
  if (rows.length === 0) return '';
  return `<div class="wide" tabindex="0"><table><tbody>${rows.map(([a, b]) => `<tr><td>${a}</td><td>${b}</td></tr>`).join('')}</tbody></table></div>\n`;
}

function firstSchema(content = {}) {
  return Object.values(content)[0]?.schema;
}

function shape(schema) {
  if (schema === undefined) return '';
  const name = schema.$ref?.split('/').at(-1);
  if (name !== undefined) return `<a href="#schema-${name}">${escapeHtml(name)}</a>`;
  const text = JSON.stringify(schema);
  return `<code>${escapeHtml(text.length > 200 ? (schema.type ?? 'object') : text)}</code>`;
}
