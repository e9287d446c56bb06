import './canvas.test.ts';
