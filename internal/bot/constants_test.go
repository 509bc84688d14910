package bot

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// constants returns the values of a package's string constants that want accepts. It reads the
// source, so that tests cover new constants automatically.
func constants(t *testing.T, folder string, want func(name, typeName string) bool) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatalf("list sources: %v", err)
	}
	var values []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatalf("read source: %v", err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, source, 0)
		if err != nil {
			t.Fatalf("parse source: %v", err)
		}
		for _, decl := range file.Decls {
			if g, ok := decl.(*ast.GenDecl); ok && g.Tok == token.CONST {
				values = append(values, constantsOf(t, g, want)...)
			}
		}
	}
	if len(values) == 0 {
		t.Fatalf("%s declares no such constants", folder)
	}
	slices.Sort(values)
	return values
}

func constantsOf(t *testing.T, decl *ast.GenDecl, want func(name, typeName string) bool) []string {
	t.Helper()
	var values []string
	for _, s := range decl.Specs {
		spec := s.(*ast.ValueSpec)
		typeName := ""
		if id, ok := spec.Type.(*ast.Ident); ok {
			typeName = id.Name
		}
		for i, id := range spec.Names {
			if !want(id.Name, typeName) {
				continue
			}
			lit, ok := spec.Values[i].(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				t.Fatalf("constant %s is no plain string", id.Name)
			}
			value, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatalf("constant %s: %v", id.Name, err)
			}
			values = append(values, value)
		}
	}
	return values
}

func ofType(typeName string) func(string, string) bool {
	return func(_, t string) bool { return t == typeName }
}
