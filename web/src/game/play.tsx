/** A game while it is played: a clock, keys, and the run so far, simulated anew for each frame. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Board } from "./board";
import { DURATION_S, steer, steeredWindow, type Game } from "./game";

/** Time between two frames, milliseconds. */
const FRAME_MS = 70;
/** What a key does to cwnd. */
const KEYS: Record<string, (packets: number) => number> = {
  ArrowUp: (packets) => packets + 1,
  ArrowDown: (packets) => packets - 1,
  " ": (packets) => Math.ceil(packets / 2),
};

interface PlayProps {
  first: Game;
  /** Seconds of simulated time per second. */
  speed: number;
  onAgain(): void;
}

/** Time since the game began, seconds of simulated time; it ends at `DURATION_S`. */
function useClock(speed: number): { nowS: number; readS(): number } {
  const beginMs = useRef(performance.now());
  const readS = () => Math.min(DURATION_S, ((performance.now() - beginMs.current) / 1e3) * speed);
  const [nowS, setNowS] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => {
      setNowS(readS());
      if (readS() >= DURATION_S) clearInterval(timer);
    }, FRAME_MS);
    return () => clearInterval(timer);
  }, []);
  return { nowS, readS };
}

export function Play({ first, speed, onAgain }: PlayProps) {
  const [game, setGame] = useState(first);
  const { nowS, readS } = useClock(speed);
  const isOver = nowS >= DURATION_S;
  const press = (change: (packets: number) => number) => {
    const atS = readS();
    if (atS < DURATION_S) setGame((before) => steer(before, atS, change(steeredWindow(before))));
  };
  // Keys count from the first frame on.
  useLayoutEffect(() => {
    if (isOver) return;
    const onKey = (event: KeyboardEvent) => {
      const change = KEYS[event.key];
      if (!change || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      press(change);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [isOver]);
  return (
    <>
      {!isOver && (
        <div class="keys">
          <output class="window">
            <strong>{steeredWindow(game)}</strong> packets
          </output>
          <Held
            label="− 1"
            name="One packet less"
            onPress={() => press((packets) => packets - 1)}
          />
          <Held
            label="+ 1"
            name="One packet more"
            onPress={() => press((packets) => packets + 1)}
          />
          <Held
            label="÷ 2"
            name="Half"
            onPress={() => press((packets) => Math.ceil(packets / 2))}
          />
          <span class="clock">{(DURATION_S - nowS).toFixed(0)} s left</span>
        </div>
      )}
      <Board {...{ game, isOver }} untilS={nowS} />
      {isOver && (
        <p>
          <button type="button" onClick={onAgain}>
            Play again
          </button>
        </p>
      )}
    </>
  );
}

/** A button that repeats while it is held, as a key does. */
function Held({ label, name, onPress }: { label: string; name: string; onPress(): void }) {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const latest = useRef(onPress);
  latest.current = onPress;
  const stop = () => clearTimeout(timer.current);
  const repeat = (afterMs: number) => {
    timer.current = setTimeout(() => {
      latest.current();
      repeat(80);
    }, afterMs);
  };
  useEffect(() => stop, []);
  return (
    <button
      type="button"
      aria-label={name}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        latest.current();
        repeat(350);
      }}
      onPointerUp={stop}
      onPointerLeave={stop}
      onPointerCancel={stop}
      // A click without a pointer comes from the keyboard or from a screen reader.
      onClick={(event) => event.detail === 0 && latest.current()}
    >
      {label}
    </button>
  );
}
