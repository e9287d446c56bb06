import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import '../store/page/scheme.ts';
import '../parts/styles/tokens.css';
import '../parts/styles/parts.css';
import './app.css';

const root = document.getElementById('root');
if (root === null) throw new Error('the page has no element with the id root');
createRoot(root).render(<App />);
