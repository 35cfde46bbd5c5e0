import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutEmphasis } from './sentences.ts';

test('emphasis is taken off words, and off no name and no code', () => {
  const table: readonly (readonly [line: string, plain: string])[] = [
    ['**Turn** the dome', 'Turn the dome'],
    ['**Turn the dome slowly.', 'Turn the dome slowly.'],
    ['Note: **slowly**.', 'Note: slowly.'],
    ['turn **10** times', 'turn 10 times'],
    ['the **dome** **roof**', 'the dome roof'],
    ['__Turn it__ now', 'Turn it now'],
    ['Dome.__eq__ and __lt__ call __init__(self)', 'Dome.__eq__ and __lt__ call __init__(self)'],
    ['``Dome.__eq__`` is **asked**', '``Dome.__eq__`` is asked'],
    ['`__eq__` and `**roof` stay', '`__eq__` and `**roof` stay'],
    ['below __dirname or __tests__/dome', 'below __dirname or __tests__/dome'],
    ['all of src/**/*.ts and **/dome', 'all of src/**/*.ts and **/dome'],
    ['a speed of 2**8 or x ** 2', 'a speed of 2**8 or x ** 2'],
    ['see the __pycache__ of __main__ here', 'see the __pycache__ of __main__ here'],
  ];
  for (const [line, plain] of table) assert.equal(withoutEmphasis(line), plain);
});
