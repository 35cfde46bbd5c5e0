import { ENGINE_CASES } from './engine-cases.ts';
import { holdCases } from './hold.ts';

holdCases('keys of [features] and [compact]', ENGINE_CASES);
