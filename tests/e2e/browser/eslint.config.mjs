// What eslint finds in ui/ and in these tests: its own recommendation, and what this page must not do. That names exist
// and types fit is checked by tsc.

import js from "@eslint/js";

const asText = "Names from the cluster are data: they reach the document by dom.js, as text.";
const byRequest = "Requests go through request() of server.js, which sends the token.";

export default [
  js.configs.recommended,
  {
    linterOptions: {reportUnusedDisableDirectives: "error"},
    rules: {
      "no-undef": "off",
      eqeqeq: "error",
      "no-var": "error",
      "prefer-const": "error",
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "array-callback-return": "error",
    },
  },
  {
    files: ["ui/*.js"],
    rules: {
      "no-shadow": "error",
      "no-console": "error",
      "no-alert": "error",
      "no-restricted-properties": [
        "error",
        ...["innerHTML", "outerHTML", "insertAdjacentHTML", "setHTMLUnsafe"].map((property) => ({
          property,
          message: asText,
        })),
        {object: "document", property: "write", message: asText},
      ],
      "no-restricted-globals": ["error", {name: "EventSource", message: byRequest}],
    },
  },
  {
    files: ["ui/*.js"],
    ignores: ["ui/server.js"],
    rules: {
      "no-restricted-globals": ["error", ...["EventSource", "fetch"].map((name) => ({name, message: byRequest}))],
    },
  },
];
