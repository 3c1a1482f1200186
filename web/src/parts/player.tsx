/** Play, pause, steps, speed: the controls of the cursor of time. */

import { playedS } from "../plots/cursor";
import { firstAfter, type Transmission } from "../plots/packets";
import { playing, seek, seekBy, speed } from "../state/player";

export interface PlayerProps {
  endS: number;
  /** A round trip of the first flow, seconds. */
  rttS: number;
  all: readonly Transmission[];
  choose: (one: Transmission) => void;
}

const SPEEDS = [0.005, 0.02, 0.1, 0.5, 2, 10];

export function Player({ endS, rttS, all, choose }: PlayerProps) {
  const timeS = playedS.value ?? 0;
  /** To the next or the last packet that is sent, which then tells its story. */
  function stepPacket(forward: boolean) {
    playing.value = false;
    const next = firstAfter(all, timeS);
    // Packets of a burst share a time: back goes before all of them.
    let index = next;
    if (!forward)
      do index -= 1;
      while (index > 0 && (all[index] as Transmission).sentS >= timeS);
    const one = all[index];
    if (!one) return;
    seek(one.sentS);
    choose(one);
  }
  return (
    <div class="player" role="group" aria-label="Player">
      <button type="button" onClick={() => stepPacket(false)} aria-label="‹ packet, back">
        ‹ packet
      </button>
      <button type="button" onClick={() => seekBy(-rttS)} aria-label="‹ RTT, back">
        ‹ RTT
      </button>
      <button
        type="button"
        class="play"
        onClick={() => {
          if (timeS >= endS) seek(0);
          playing.value = !playing.value;
        }}
      >
        {playing.value ? "Pause" : "Play"}
      </button>
      <button type="button" onClick={() => seekBy(rttS)} aria-label="RTT ›, forward">
        RTT ›
      </button>
      <button type="button" onClick={() => stepPacket(true)} aria-label="packet ›, forward">
        packet ›
      </button>
      <label>
        Speed{" "}
        <select
          value={speed.value}
          onChange={(event) => (speed.value = Number(event.currentTarget.value))}
        >
          {SPEEDS.map((value) => (
            <option key={value} value={value}>
              {value < 1 ? `1/${1 / value}` : `${value}×`}
            </option>
          ))}
        </select>
      </label>
      <label class="seek">
        <span class="hidden">Time, seconds</span>
        <input
          type="range"
          min={0}
          max={endS}
          step={endS / 2000}
          value={timeS}
          aria-valuetext={`${timeS.toFixed(2)} s`}
          onInput={(event) => seek(event.currentTarget.valueAsNumber)}
        />
      </label>
      <output>{timeS.toFixed(3)} s</output>
    </div>
  );
}
