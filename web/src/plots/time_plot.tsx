/** Lines over time, with the page's cursor and range of time. */

import { effect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { theme } from "../state/theme";
import { cssColor } from "./colors";
import { cursorS, markedS, range } from "./cursor";

/** A line: a value for each time, null where there is none. */
export interface Line {
  label: string;
  color: string;
  dash?: number[];
  width?: number;
  values: (number | null)[];
}

export interface TimePlotProps {
  /** What is drawn, and its unit; also the label for screen readers. */
  title: string;
  unit: string;
  /** Times of all lines, seconds. */
  timesS: readonly number[];
  lines: Line[];
  /** End of the axis of time, seconds. */
  durationS: number;
  /** Height of the plot, CSS pixels. */
  height?: number;
  /** Top of the axis, where the lines may lie lower. */
  most?: number;
  /** Top of the axis, above which lines are cut off. */
  top?: number;
  /** Draws below the lines, in the plot's coordinates. */
  under?: (plot: uPlot) => void;
  /** Draws above them. */
  over?: (plot: uPlot) => void;
  /** Told the time that is clicked, seconds. */
  pick?: (timeS: number) => void;
  /** Whether it shows the axis of time; of plots in a column only the last needs to. */
  showsTime?: boolean;
}

/** Grid and axis text are quiet: the lines are the point. */
function axis(overrides: Partial<uPlot.Axis>): uPlot.Axis {
  return {
    stroke: () => cssColor("muted"),
    grid: { stroke: () => cssColor("grid"), width: 1 },
    ticks: { show: false },
    font: "11px system-ui, sans-serif",
    ...overrides,
  };
}

function options(props: { current: TimePlotProps }, width: number): uPlot.Options {
  const { lines, height = 150, showsTime = true } = props.current;
  return {
    width,
    height,
    padding: [8, 14, showsTime ? 0 : 6, 0],
    legend: { show: false },
    cursor: {
      x: true,
      y: false,
      points: { show: false },
      drag: { x: true, y: false, setScale: false },
      focus: { prox: -1 },
    },
    scales: {
      x: { time: false, range: () => range.value ?? [0, props.current.durationS] },
      y: {
        range: (_, __, highest) => {
          const { most = 0, top = Math.max(most, highest || 1) } = props.current;
          return [0, top * 1.06];
        },
      },
    },
    axes: [
      axis({
        size: showsTime ? 26 : 0,
        values: (_, ticks) =>
          ticks.map((tick, index) =>
            !showsTime ? "" : index === ticks.length - 1 ? `${tick} s` : `${tick}`,
          ),
      }),
      axis({ size: 44, space: 26 }),
    ],
    series: [
      {},
      ...lines.map(({ label, color, dash, width = 1.5 }): uPlot.Series => ({
        label,
        stroke: color,
        width,
        ...(dash?.length ? { dash } : {}),
        points: { show: false },
        spanGaps: false,
      })),
    ],
    hooks: {
      drawClear: [(plot) => props.current.under?.(plot)],
      draw: [(plot) => props.current.over?.(plot)],
      setCursor: [
        (plot) => {
          // Only the plot under the pointer moves the shared cursor.
          const { left } = plot.cursor;
          if (!plot.over.matches(":hover")) return;
          cursorS.value = left === undefined || left < 0 ? null : plot.posToVal(left, "x");
        },
      ],
      setSelect: [
        (plot) => {
          const { left, width } = plot.select;
          if (width > 4) range.value = [plot.posToVal(left, "x"), plot.posToVal(left + width, "x")];
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
    },
  };
}

/** Lines whose values a plot spells out under the cursor; more would not fit beside its title. */
const READ_OUT = 4;

/** The values at a time, in words. */
function readout({ timesS, lines }: TimePlotProps, timeS: number): string {
  let [low, high] = [0, timesS.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((timesS[middle] as number) <= timeS) low = middle;
    else high = middle - 1;
  }
  const values = lines.slice(0, READ_OUT).flatMap(({ label, values }) => {
    const value = values[low];
    return value == null ? [] : [`${label} ${Number(value.toPrecision(3))}`];
  });
  return [`${timeS.toFixed(2)} s`, ...values].join("  ");
}

export function TimePlot(props: TimePlotProps) {
  const host = useRef<HTMLDivElement>(null);
  const words = useRef<HTMLSpanElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const colors = props.lines.map((line) => line.color).join();
  const data = [props.timesS, ...props.lines.map((line) => line.values)] as uPlot.AlignedData;

  // A plot is built anew only when the number or the looks of its lines change.
  useEffect(() => {
    const element = host.current as HTMLDivElement;
    const built = new uPlot(options(latest, element.clientWidth), data, element);
    plot.current = built;
    const resize = new ResizeObserver(() =>
      built.setSize({ width: element.clientWidth, height: built.height }),
    );
    resize.observe(element);
    const endCursor = effect(() => {
      const at = markedS.value;
      const left = at === null ? -10 : built.valToPos(at, "x");
      built.setCursor({ left, top: at === null ? -10 : 10 }, false);
      if (words.current) words.current.textContent = at === null ? "" : readout(latest.current, at);
    });
    const endRange = effect(() => {
      void range.value;
      built.setData(built.data);
    });
    built.over.addEventListener("dblclick", () => (range.value = null));
    built.over.addEventListener("click", (event) =>
      latest.current.pick?.(built.posToVal(event.offsetX, "x")),
    );
    const leave = () => (cursorS.value = null);
    built.over.addEventListener("mouseleave", leave);
    return () => {
      endCursor();
      endRange();
      resize.disconnect();
      built.destroy();
    };
  }, [colors, theme.value, props.height, props.showsTime]);

  useEffect(() => plot.current?.setData(data), [data]);

  return (
    <figure class="plot">
      <figcaption>
        {props.title} <span class="unit">{props.unit}</span>
        <span class="readout" ref={words} />
      </figcaption>
      <div
        ref={host}
        class="canvas"
        role="img"
        aria-label={`${props.title}, ${props.unit}, over time`}
      />
    </figure>
  );
}
