import tseslint from "typescript-eslint";

export default tseslint.config({ ignores: ["dist/", "eslint.config.mjs"] }, ...tseslint.configs.strictTypeChecked, ...tseslint.configs.stylisticTypeChecked, {
  languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
  rules: {
    // Numbers read well in a text.
    "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
  },
});
