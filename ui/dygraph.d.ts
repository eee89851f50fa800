// The part of dygraphs (Debian libjs-dygraphs) that this page uses.

export interface Area {
  x: number;
  y: number;
  w: number;
  h: number;
}
export type Ticker = (from: number, to: number, pixels: number) => {v: number; label: string}[];
export interface AxisOptions {
  axisLabelFormatter?: (value: number) => string;
  axisLabelWidth?: number;
  ticker?: Ticker;
}
export interface GraphOptions {
  labels: string[];
  colors: string[];
  series: Record<string, {strokeWidth?: number; strokePattern?: number[] | null; fillGraph?: boolean}>;
  stepPlot: boolean;
  fillAlpha: number;
  legend: "never";
  includeZero: boolean;
  dateWindow: [number, number];
  axisLineColor: string;
  gridLineColor: string;
  highlightCircleSize: number;
  connectSeparatedPoints: boolean;
  axes: {x: AxisOptions; y: AxisOptions};
  underlayCallback?: (context: CanvasRenderingContext2D, area: Area, graph: Graph) => void;
  drawCallback?: (graph: Graph, first: boolean) => void;
  clickCallback?: (event: Event, x: number) => void;
  zoomCallback?: (from: number, to: number) => void;
  interactionModel?: Interaction;
}
export type Interaction = Record<string, (event: Event, graph: Graph, context: object) => void>;
export interface Graph {
  getArea(): Area;
  toDomXCoord(ms: number): number;
  toDataXCoord(x: number): number;
  xAxisRange(): [number, number];
  updateOptions(options: {dateWindow: [number, number]}): void;
  destroy(): void;
}

declare global {
  const Dygraph: {
    new (element: HTMLElement, rows: (number | null)[][], options: GraphOptions): Graph;
    defaultInteractionModel: Interaction;
    PLUGINS: unknown[];
    Plugins: {Legend: unknown};
  };
}
