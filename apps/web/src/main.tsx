import './style/tokens.css';
import './style/base.css';
import './style/shell.css';
import './style/list.css';
import './style/start.css';
import './style/session.css';
import './style/text.css';
import './style/diff.css';
import './style/timeline.css';
import './style/requests.css';
import './style/queue.css';
import './style/programs.css';
import { assert } from '@concerto/base';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { applyTheme, storedTheme } from './shell/theme.ts';

applyTheme(storedTheme());
const root = document.getElementById('root');
assert(root !== null, 'index.html has the root element');
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
