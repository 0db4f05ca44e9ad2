// The part of uPlot that the console uses.

export type Values = (number | null)[];

export interface Series {
  label?: string;
  stroke?: string;
  width?: number;
  dash?: number[];
  spanGaps?: boolean;
  points?: { show?: boolean; size?: number };
}

export interface Axis {
  stroke?: string;
  font?: string;
  size?: number;
  space?: number;
  grid?: { stroke?: string; width?: number };
  ticks?: { stroke?: string; width?: number };
  values?: (chart: unknown, splits: number[]) => string[];
}

export interface Options {
  width: number;
  height: number;
  legend?: { show: boolean };
  cursor?: { show?: boolean; drag?: { x: boolean; y: boolean } };
  scales?: Record<string, { time?: boolean; range?: (chart: unknown, min: number, max: number) => [number, number] }>;
  series: Series[];
  axes: Axis[];
}

export default class Chart {
  constructor(options: Options, data: Values[], place: HTMLElement);
  setData(data: Values[]): void;
  setSize(size: { width: number; height: number }): void;
  destroy(): void;
}
