// `npm run vscode [FILE]`: packs editors/vscode with everything it needs as a .vsix, which VS Code installs from a file.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import JSZip from 'jszip';
import { root } from './root.mjs';

const folder = join(root, 'editors', 'vscode');
const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
const target = process.argv[2] ?? join(folder, 'dist', `${manifest.name}-${manifest.version}.vsix`);

const zip = new JSZip();
zip.file('[Content_Types].xml', contentTypes());
zip.file('extension.vsixmanifest', vsixManifest());
for (const name of ['package.json', 'language-configuration.json', 'README.md']) add(name, join(folder, name));
for (const sub of ['syntaxes', 'snippets']) {
  for (const name of readdirSync(join(folder, sub))) add(`${sub}/${name}`, join(folder, sub, name));
}
add('LICENSE.txt', join(root, 'LICENSE'));
zip.file('extension/extension.js', await bundle());
zip.file('extension/concerto-schema.json', await schema());

mkdirSync(dirname(target), { recursive: true });
writeFileSync(target, await zip.generateAsync({ type: 'nodebuffer', compression: 'DEFLATE' }));
console.log(`wrote ${target}`);

function add(name, path) {
  zip.file(`extension/${name}`, readFileSync(path));
}

/** With the language client inside: an installed extension has no packages. */
async function bundle() {
  const { outputFiles } = await build({
    entryPoints: [join(folder, 'src', 'extension.mjs')],
    bundle: true,
    minify: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    external: ['vscode'],
  });
  return outputFiles[0].contents;
}

/** As `concerto schema` prints it. */
async function schema() {
  const { outputFiles } = await build({
    stdin: {
      contents:
        "import { manifestJsonSchema } from './packages/language/src/manifest/manifest-json-schema.ts';\nexport const text = JSON.stringify(manifestJsonSchema(), undefined, 2);",
      resolveDir: root,
    },
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    conditions: ['@concerto/source'],
  });
  const { text } = await import(
    `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`
  );
  return text;
}

function contentTypes() {
  const types = {
    json: 'application/json',
    js: 'application/javascript',
    md: 'text/markdown',
    txt: 'text/plain',
    vsixmanifest: 'text/xml',
  };
  const rows = Object.entries(types).map(([name, type]) => `<Default Extension=".${name}" ContentType="${type}"/>`);
  return `<?xml version="1.0" encoding="utf-8"?>\n<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">${rows.join('')}</Types>\n`;
}

function vsixManifest() {
  const { name, version, publisher, displayName, description, engines, categories } = manifest;
  return `<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id="${name}" Version="${version}" Publisher="${publisher}"/>
    <DisplayName>${displayName}</DisplayName>
    <Description xml:space="preserve">${description}</Description>
    <Categories>${categories.join(',')}</Categories>
    <License>extension/LICENSE.txt</License>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value="${engines.vscode}"/>
    </Properties>
  </Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE.txt" Addressable="true"/>
  </Assets>
</PackageManifest>
`;
}
