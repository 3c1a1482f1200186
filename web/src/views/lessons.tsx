/** Lessons: their list, `#/lessons`, and a step of one of them, `#/lessons/3/2`. */

import "../lessons/lessons.css";
import { lessons, type Lesson } from "../lessons/lesson";
import { Inline } from "../lessons/prose";
import { StepView } from "../lessons/step_view";
import { route } from "../state/route";

function LessonList() {
  return (
    <main class="lessons">
      <h2>Twelve lessons</h2>
      <p>
        Each lesson is a sequence of experiments. Predict the outcome of each, then look at the run.
        The packet-level simulator makes every run on this page while you read.
      </p>
      <ol class="lesson-list">
        {lessons.map((lesson, index) => (
          <li>
            <a href={`#/lessons/${index + 1}`}>{lesson.title}</a>
            <span class="minutes">{lesson.minutes} min</span>
            <p>
              <Inline text={lesson.summary} />
            </p>
          </li>
        ))}
      </ol>
      <p>
        Then try to do better yourself: <a href="#/game">you are the rule</a>. For teachers:{" "}
        <a href="#/teacher">times, questions and pitfalls</a>.
      </p>
    </main>
  );
}

function Steps({ lesson, number, current }: { lesson: Lesson; number: number; current: number }) {
  return (
    <nav aria-label="Steps" class="steps">
      <ol>
        {lesson.steps.map((step, index) => (
          <li>
            <a
              href={`#/lessons/${number}/${index + 1}`}
              aria-current={index + 1 === current ? "step" : undefined}
            >
              {step.title}
            </a>
          </li>
        ))}
        <li>
          <a
            href={`#/lessons/${number}/${lesson.steps.length + 1}`}
            aria-current={current > lesson.steps.length ? "step" : undefined}
          >
            Questions
          </a>
        </li>
      </ol>
    </nav>
  );
}

function Questions({ lesson }: { lesson: Lesson }) {
  return (
    <div class="questions">
      {lesson.questions.map(({ ask, solution }) => (
        <section>
          <p>
            <Inline text={ask} />
          </p>
          <details>
            <summary>Solution</summary>
            <p>
              <Inline text={solution} />
            </p>
          </details>
        </section>
      ))}
      <h3>Sources</h3>
      <ul>
        {lesson.sources.map((source) => (
          <li>{source}</li>
        ))}
      </ul>
    </div>
  );
}

function LessonPage({
  lesson,
  number,
  current,
}: {
  lesson: Lesson;
  number: number;
  current: number;
}) {
  const step = lesson.steps[current - 1];
  const next = step ? `#/lessons/${number}/${current + 1}` : `#/lessons/${number + 1}`;
  const nextTitle = lesson.steps[current]?.title ?? (step ? "Questions" : lessons[number]?.title);
  return (
    <main class="lesson">
      <p class="above">
        <a href="#/lessons">Lessons</a> · {number} of {lessons.length}
      </p>
      <h2>{lesson.title}</h2>
      <Steps {...{ lesson, number, current }} />
      <h3>{step ? step.title : "Questions"}</h3>
      {step ? (
        <StepView key={step.scenario} {...{ step, axes: lesson.axes ?? {} }} />
      ) : (
        <Questions lesson={lesson} />
      )}
      <p class="onwards">
        {nextTitle && (
          <a href={next}>{step ? `Next: ${nextTitle}` : `Next lesson: ${nextTitle}`}</a>
        )}
      </p>
    </main>
  );
}

export function Lessons() {
  const [number = 0, current = 1] = route.value.rest.map(Number);
  const lesson = lessons[number - 1];
  return lesson ? <LessonPage {...{ lesson, number, current }} /> : <LessonList />;
}
