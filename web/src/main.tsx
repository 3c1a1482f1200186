/** The page: its views by address, and a run that is always there. */

import "uplot/dist/uPlot.min.css";
import "./style.css";
import { render } from "preact";
import { START } from "./state/examples";
import { route } from "./state/route";
import { keepRunning } from "./state/runs";
import { open } from "./state/scenario";
import { Footer, Header } from "./parts/frame";
import { Build } from "./views/build";
import { GameView } from "./views/game";
import { Lessons } from "./views/lessons";
import { Look } from "./views/look";
import { Teacher } from "./views/teacher";
import type { ComponentType } from "preact";

/** Views by the first word of the address. */
const VIEWS: Record<string, ComponentType> = {
  build: Build,
  look: Look,
  lessons: Lessons,
  game: GameView,
  teacher: Teacher,
};

function Page() {
  const View = VIEWS[route.value.view] ?? Build;
  return (
    <>
      <Header />
      <View />
      <Footer />
    </>
  );
}

open(START);
keepRunning();
render(<Page />, document.getElementById("page") as HTMLElement);
