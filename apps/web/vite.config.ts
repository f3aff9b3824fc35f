import react from '@vitejs/plugin-react';
import { defaultClientConditions, defineConfig } from 'vite';

// Our packages are taken from source: the page builds without anything else having been built.
export default defineConfig({
  plugins: [react()],
  resolve: { conditions: ['@concerto/source', ...defaultClientConditions] },
  build: {
    target: 'es2022',
    cssTarget: ['chrome125', 'firefox128', 'safari18'],
    // The page of a program brings the language and an editor, and is loaded only there: no reason to warn whoever starts.
    chunkSizeWarningLimit: 800,
  },
  server: { proxy: { '/api': 'http://127.0.0.1:4242' } },
});
